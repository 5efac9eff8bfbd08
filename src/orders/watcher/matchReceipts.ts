import type { Address, Hex } from 'viem'
import { decodeTokenLog } from '../../chain/logs/decodeTokenLog.js'
import type { ProofReceipt } from '../../core/receiptProof.js'
import { isInDestinations } from '../../store/isInDestinations.js'
import type {
  AttemptRecord,
  Destination,
  OrderRecord,
  ProofRecord,
} from '../../store/types.js'
import type { TimedReceipt } from '../evidence/readTimedReceipts.js'
import { proofRecordOf } from '../model/proofRecordOf.js'
import type { Evidence } from '../model/settleOrder.js'
import type { StoredOrder } from '../model/storedOrder.js'
import type { OrdersContext } from '../model/types.js'
import type { Finding } from './settleFindings.js'

type Spent = { authorizer: Address; nonce: Hex; wasUsed: boolean }

/** What receipts say about orders of a destination. */
export async function matchReceipts(
  { store }: Pick<OrdersContext, 'store'>,
  destination: Destination,
  receipts: readonly TimedReceipt[],
): Promise<Finding[]> {
  const spent = receipts.map(({ receipt }) => readSpent(receipt, destination))
  const nonces = [...new Set(spent.flat().map(({ nonce }) => nonce))]
  if (!nonces.length) return []
  const found = await readAttempts({ store }, destination, nonces)
  return receipts.flatMap((timed, at) =>
    (spent[at] ?? []).flatMap((event) => {
      const stored = found.get(event.nonce)
      const evidence = stored && judgeEvent(timed, event, stored)
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
}

/** The nonces of a token that a transaction used or canceled. */
function readSpent(receipt: ProofReceipt, { token }: Destination): Spent[] {
  return receipt.logs.flatMap((log) => {
    if (log.address.toLowerCase() !== token) return []
    const event = decodeTokenLog(log)
    if (!event || event.name === 'Transfer') return []
    const wasUsed = event.name === 'AuthorizationUsed'
    const nonce = event.nonce.toLowerCase() as Hex
    return [{ authorizer: event.authorizer, nonce, wasUsed }]
  })
}

async function readAttempts(
  { store }: Pick<OrdersContext, 'store'>,
  destination: Destination,
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
      .filter((order) => isInDestinations(order, [destination]))
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
  { receipt, blockTime }: TimedReceipt,
  { authorizer, wasUsed }: Spent,
  { order, attempt }: Pick<StoredOrder, 'order' | 'attempt'>,
): Evidence | undefined {
  const payer = attempt.payer ?? order.payer
  // To the token a nonce is the payer's own: another's says nothing.
  if (payer !== undefined && payer !== authorizer) return undefined
  const proof = proofRecordOf(
    receipt,
    { order, attempt: { ...attempt, payer: authorizer } },
    blockTime,
  )
  if (proof) return evidenceOf(proof, payer)
  const { transactionHash, blockNumber } = receipt
  return wasUsed && payer !== undefined
    ? { kind: 'consumed', transactionHash, blockNumber }
    : undefined
}

/** Without a payer anyone can cancel a nonce of the same bytes: their own. */
function evidenceOf(
  proof: Omit<ProofRecord, 'version'>,
  payer: Address | undefined,
): Evidence | undefined {
  if (proof.kind === 'capture') return { kind: 'capture', proof }
  return payer === undefined ? undefined : { kind: 'cancel', proof }
}
