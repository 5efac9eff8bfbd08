import type { Address, Hex } from 'viem'
import { decodeTokenLog } from '../../chain/logs/decodeTokenLog.js'
import type { ReadLog } from '../../chain/logs/types.js'
import type { ProofReceipt } from '../../core/receiptProof.js'
import { isInDestinations } from '../../store/isInDestinations.js'
import { ordersOf } from '../../store/movements.js'
import type {
  AttemptRecord,
  OrderRecord,
  ProofRecord,
} from '../../store/types.js'
import type { OrdersContext } from '../context/types.js'
import type { PaymentLogs } from '../evidence/getPaymentLogs.js'
import {
  getTimedReceipts,
  hashesOf,
  type MissingReceipt,
  type TimedReceipt,
} from '../evidence/getTimedReceipts.js'
import { type Changes, joinChanges, noChanges } from '../model/changes.js'
import { hasTokenNonce, kindOf, knowsKind } from '../model/kindOf.js'
import { loadOrders } from '../model/loadOrders.js'
import { proofRecordOf } from '../model/proofRecordOf.js'
import type { Evidence } from '../model/settleOrder.js'
import { atAttempt, type StoredOrder } from '../model/storedOrder.js'
import type { Finding } from './settleFindings.js'
import {
  settleUnmatched,
  type Unmatched,
  unmatchedOf,
} from './settleUnmatched.js'
import type { TokenWatch } from './watchState.js'
import { writeFindings } from './writeFindings.js'

/** Most mined transactions whose payments one database transaction writes. */
const unitSize = 100

/**
 * Reads the receipts of a token's logs, and writes the payments that the store
 * lacks.
 *
 * @returns transactions whose receipts the node does not return. All others are
 * written.
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer, or its answer mixes two versions of the chain. Then writes nothing.
 */
export async function settleLogs(
  context: OrdersContext,
  watch: TokenWatch,
  { transfers, spent }: PaymentLogs,
): Promise<{ changes: Changes; missing: readonly MissingReceipt[] }> {
  const { isWaiting } = watch.aside
  const fresh = await dropKnown(context, watch.chainId, transfers)
  const { timed: receipts, missing } = await getTimedReceipts(
    watch,
    [...fresh, ...spent],
    { isWaiting },
  )
  const written: Changes[] = []
  for (let at = 0; at < receipts.length; at += unitSize) {
    context.signal?.throwIfAborted()
    const part = receipts.slice(at, at + unitSize)
    const findings = await matchReceipts(context, watch, part)
    const unmatched = findUnmatched(watch, {
      fresh,
      part,
      findings,
    })
    const changes = await writeFindings(context, watch, {
      findings,
      addMore: async (collected, tables) => {
        const now = context.now()
        collected.add(await settleUnmatched(context, tables, unmatched, now))
      },
    })
    written.push(changes)
  }
  return { changes: joinChanges([noChanges(), ...written]), missing }
}

/** Leaves out transfers that the store has at the same block and log index. */
async function dropKnown(
  { store }: OrdersContext,
  chainId: number,
  transfers: readonly ReadLog[],
): Promise<ReadLog[]> {
  const hashes = hashesOf(transfers)
  if (!hashes.length) return []
  const known = await store.read(({ proofs }) =>
    proofs.find({ hashes, chainId }),
  )
  const places = new Set(
    known
      .filter(({ removed }) => !removed)
      .map((row) => `${row.blockHash}/${row.transactionHash}/${row.logIndex}`),
  )
  return transfers.filter(
    (log) =>
      !places.has(`${log.blockHash}/${log.transactionHash}/${log.logIndex}`),
  )
}

function findUnmatched(
  { destinations }: TokenDestinations,
  {
    fresh,
    part,
    findings,
  }: {
    fresh: readonly ReadLog[]
    part: readonly TimedReceipt[]
    findings: readonly Finding[]
  },
): Unmatched[] {
  const taken = new Set(
    findings.flatMap(({ evidence }) =>
      evidence.kind === 'capture'
        ? [`${evidence.proof.transactionHash}/${evidence.proof.logIndex}`]
        : [],
    ),
  )
  const timed = new Map(part.map((one) => [one.receipt.transactionHash, one]))
  const byRecipient = new Map(destinations.map((one) => [one.recipient, one]))
  return fresh.flatMap((log) => {
    const receipt = timed.get(log.transactionHash)
    const isTaken = taken.has(`${log.transactionHash}/${log.logIndex}`)
    const event = decodeTokenLog(log)
    if (event?.name !== 'Transfer') return []
    const destination = byRecipient.get(event.to)
    return receipt && destination && !isTaken
      ? (unmatchedOf(log, destination, receipt) ?? [])
      : []
  })
}

type TokenDestinations = Pick<TokenWatch, 'chainId' | 'token' | 'destinations'>

type Spent = { authorizer: Address; nonce: Hex; wasUsed: boolean }

/** Finds what receipts show about the orders of these destinations. */
async function matchReceipts(
  context: Pick<OrdersContext, 'store' | 'kinds'>,
  of: TokenDestinations,
  receipts: readonly TimedReceipt[],
): Promise<Finding[]> {
  const sent = await matchSent(context, of, receipts)
  const spent = receipts.map(({ receipt }) => parseSpent(receipt, of))
  const nonces = [...new Set(spent.flat().map(({ nonce }) => nonce))]
  if (!nonces.length) return sent
  const found = await findAttemptsOf(context, of, nonces)
  const named = receipts.flatMap((timed, at) =>
    (spent[at] ?? []).flatMap((event) => {
      const stored = found.get(event.nonce)
      if (stored && !knowsKind(context, stored.order)) return []
      const evidence = stored && judgeEvent(context, timed, event, stored)
      return stored && evidence
        ? [
            {
              orderId: stored.order.id,
              attempt: stored.attempt.number,
              evidence,
            },
          ]
        : []
    }),
  )
  return [...sent, ...named]
}

/**
 * Finds captures by transactions that we sent, for kinds of payments that leave
 * no log with their nonce.
 */
async function matchSent(
  context: Pick<OrdersContext, 'store' | 'kinds'>,
  { chainId, destinations }: TokenDestinations,
  receipts: readonly TimedReceipt[],
): Promise<Finding[]> {
  if ([...context.kinds.values()].every(hasTokenNonce)) return []
  const hashes = receipts.map(({ receipt }) => receipt.transactionHash)
  if (hashes.length === 0) return []
  const { sent, stored } = await context.store.read(async (tables) => {
    const sent = await tables.transactions.find({ hashes, chainId })
    const ids = ordersOf(sent)
    const stored = await loadOrders(tables, { ids }, (order) =>
      isInDestinations(order, destinations),
    )
    return { sent, stored }
  })
  const carried = sent.flatMap(({ hash, movements }) =>
    movements.map((one) => ({ hash, ...one })),
  )
  return carried.flatMap(({ hash, orderId, attempt }): Finding[] => {
    const newest = stored.get(orderId)
    const found = newest && atAttempt(newest, attempt)
    const timed = receipts.find(
      ({ receipt }) => receipt.transactionHash === hash,
    )
    if (!found || !timed || !knowsKind(context, found.order)) return []
    if (hasTokenNonce(kindOf(context, found.order))) return []
    const proof = proofRecordOf(context, timed.receipt, found, timed.blockTime)
    if (proof?.kind !== 'capture') return []
    const evidence = { kind: 'capture', proof } as const
    return [{ orderId, attempt: found.attempt.number, evidence }]
  })
}

/**
 * Returns the payment nonces of a token that a transaction used or canceled.
 */
function parseSpent(
  receipt: ProofReceipt,
  { token }: TokenDestinations,
): Spent[] {
  return receipt.logs.flatMap((log) => {
    if (log.address.toLowerCase() !== token) return []
    const event = decodeTokenLog(log)
    if (!event || event.name === 'Transfer') return []
    const wasUsed = event.name === 'AuthorizationUsed'
    const nonce = event.nonce.toLowerCase() as Hex
    return [{ authorizer: event.authorizer, nonce, wasUsed }]
  })
}

async function findAttemptsOf(
  { store }: Pick<OrdersContext, 'store'>,
  { destinations }: TokenDestinations,
  nonces: readonly Hex[],
): Promise<ReadonlyMap<Hex, Pick<StoredOrder, 'order' | 'attempt'>>> {
  const { attempts, orders } = await store.read(async (tables) => {
    const found = await tables.attempts.find({ nonces })
    const ids = found.map(({ orderId }) => orderId)
    return {
      attempts: found,
      orders: ids.length ? await tables.orders.find({ ids }) : [],
    }
  })
  const own = new Map(
    orders
      .filter((order) => isInDestinations(order, destinations))
      .map((order): [string, OrderRecord] => [order.id, order]),
  )
  return new Map(
    attempts.flatMap(
      (
        attempt: AttemptRecord,
      ): [Hex, Pick<StoredOrder, 'order' | 'attempt'>][] => {
        const order = own.get(attempt.orderId)
        return order ? [[attempt.nonce, { order, attempt }]] : []
      },
    ),
  )
}

function judgeEvent(
  context: Pick<OrdersContext, 'kinds'>,
  { receipt, blockTime }: TimedReceipt,
  { authorizer, wasUsed }: Spent,
  { order, attempt }: Pick<StoredOrder, 'order' | 'attempt'>,
): Evidence | undefined {
  const payer = attempt.payer ?? order.payer
  // The token counts nonces separately for each payer: a nonce that another
  // account used proves nothing.
  if (payer !== undefined && payer !== authorizer) return undefined
  const proof = proofRecordOf(
    context,
    receipt,
    { order, attempt: { ...attempt, payer: authorizer } },
    blockTime,
  )
  if (proof) return evidenceOf(proof, payer)
  const { transactionHash, blockNumber, blockHash } = receipt
  return wasUsed && payer !== undefined
    ? { kind: 'consumed', transactionHash, blockNumber, blockHash }
    : undefined
}

/**
 * Builds the evidence for an order. A cancellation counts only if the payer is
 * known: anyone can cancel the same nonce bytes for their own account.
 */
function evidenceOf(
  proof: Omit<ProofRecord, 'version'>,
  payer: Address | undefined,
): Evidence | undefined {
  if (proof.kind === 'capture') return { kind: 'capture', proof }
  return payer === undefined ? undefined : { kind: 'cancel', proof }
}
