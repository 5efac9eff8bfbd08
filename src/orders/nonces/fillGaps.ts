import type { Address, Hex } from 'viem'
import { tryRequest } from '../../chain/rpc/requestNode.js'
import { ordersOf } from '../../store/movements.js'
import type { TransactionRecord } from '../../store/types.js'
import type { AccountNonces } from '../account/accountNonces.js'
import type { SubmitterView } from '../account/getSubmitterView.js'
import { type InFlight, nextBump } from '../account/inFlight.js'
import {
  choosesNonce,
  type NonceChoice,
  nonceName,
  type SubmitterState,
} from '../account/submitterState.js'
import type { OrdersContext } from '../context/types.js'
import { putAside } from '../loop/putAside.js'
import { collectChanges } from '../model/collectChanges.js'
import { loadOrders } from '../model/loadOrders.js'
import { isVoid } from '../model/rejectOrder.js'
import type { StoredOrder } from '../model/storedOrder.js'
import { feesOf } from '../sending/feesOf.js'
import { askToSend } from '../sending/sendByWallet.js'
import { sendRecorded } from '../sending/sendRecorded.js'
import { type RowDraft, rowOf, signRow } from '../sending/signDrafts.js'
import { mostForeign } from './continueNonces.js'

/**
 * Fills gaps, which are unused account nonces below used ones: later
 * transactions cannot be mined before these. Sends the transaction that a
 * reorganization removed from the nonce, or else an empty transfer to the
 * account itself (a filler).
 */
export async function fillGaps(
  context: OrdersContext,
  submitter: SubmitterState,
  view: SubmitterView,
): Promise<boolean> {
  if (submitter.walletMemory.isResting('filler')) return false
  const { nonces, isWide } = await findGaps(submitter, view)
  let isActive = false
  for (const nonce of nonces) {
    const name = nonceName('fill', nonce)
    if (submitter.aside.isWaiting(name)) continue
    try {
      const isFilled = await fillGap(context, submitter, view, {
        nonce,
        isWide,
      })
      isActive ||= isFilled
      submitter.aside.clear(name)
    } catch (error) {
      // A signer that allows only calls of the token refuses this empty
      // transfer. Other work continues.
      putAside(submitter.aside, name, error)
      // A signer that hangs may delay a poll once, but not once per nonce.
      break
    }
    // Stop if the wallet failed, or has turned out to choose its own nonces.
    if (submitter.walletMemory.isResting('filler') || !choosesNonce(submitter))
      break
  }
  return isActive
}

async function fillGap(
  context: OrdersContext,
  submitter: SubmitterState,
  view: SubmitterView,
  { nonce, isWide }: { nonce: number; isWide: boolean },
): Promise<boolean> {
  const { submitter: at } = submitter.wallet
  const { known, rows } = await context.store.read(async (tables) => {
    const known = await tables.transactions.find({ at, nonce })
    const ids = ordersOf(known)
    return { known, rows: await loadOrders(tables, { ids }) }
  })
  const collected = collectChanges(rows)
  const signed = known.filter(
    (row) =>
      row.raw !== undefined &&
      mayReopen(
        row,
        row.movements.flatMap(
          (one) => collected.find(one.orderId, one.attempt) ?? [],
        ),
      ),
  )
  if (signed.length > 0) {
    await reopen(context, submitter, signed)
    return true
  }
  // Dropped transactions never leave so many gaps, so the node may be wrong.
  if (isWide) return false
  const draft: RowDraft = {
    ...(await fillerCall(submitter)),
    nonce,
    bump: nextBump(known),
    kind: 'filler',
    fees: feesOf(view, await view.costs()),
    movements: [],
  }
  const isLocal = submitter.wallet.account.type === 'local'
  const made = isLocal ? await signRow(context, submitter, draft) : undefined
  const row = made?.row ?? rowOf(draft, at, context.now())
  await context.store.write((tables) => tables.transactions.insert([row]), {
    lease: submitter.lease,
  })
  const kept = { ...row, version: 1 }
  submitter.inFlight.add([kept])
  if (made) sendRecorded(context, submitter, view, [made.bytes])
  else await askToSend(context, submitter, kept, draft)
  return true
}

/**
 * True if the transaction may be sent again: it is a filler, is in flight, or
 * has a stored proof. Any other could capture an order that was voided since.
 */
export function mayReopen(
  {
    kind,
    hash,
    inFlight,
  }: Pick<TransactionRecord, 'kind' | 'hash' | 'inFlight'>,
  carried: readonly StoredOrder[],
): boolean {
  if (inFlight || kind === 'filler' || carried.length === 0) return true
  return (
    !(kind === 'capture' && carried.some(({ order }) => isVoid(order))) &&
    carried.some(({ proofs }) =>
      proofs.some((proof) => !proof.removed && proof.transactionHash === hash),
    )
  )
}

/**
 * Marks transactions as in flight again. The same poll then sends their bytes.
 */
async function reopen(
  context: OrdersContext,
  submitter: SubmitterState,
  rows: readonly TransactionRecord[],
): Promise<void> {
  const opened = rows.map((row) => ({ ...row, inFlight: true }))
  await context.store.write((tables) => tables.transactions.update(opened), {
    lease: submitter.lease,
  })
  submitter.inFlight.add(
    opened.map((row) => ({ ...row, version: row.version + 1 })),
  )
}

/** An unused nonce counts as a gap after this many polls and milliseconds. */
const gapLooks = 3
const gapTime = 1000

/** Account nonces that have to be used before later ones can be mined. */
type Gaps = {
  nonces: number[]
  /** True when there are so many gaps that the node may be wrong. */
  isWide: boolean
}

/**
 * Finds account nonces below `nextNonce` at which neither the node nor the
 * submitter has a transaction. All later transactions would wait behind them.
 */
async function findGaps(
  submitter: NonceChoice & {
    nonces: AccountNonces
    inFlight: Pick<InFlight, 'rows'>
  },
  { count, pendingCount }: Pick<SubmitterView, 'count' | 'pendingCount'>,
): Promise<Gaps> {
  const { nonces, inFlight } = submitter
  if (!choosesNonce(submitter)) return { nonces: [], isWide: false }
  const used = new Set(inFlight.rows.map(({ nonce }) => nonce))
  const end = nonces.value.nextNonce
  const unusedFrom = (first: number): number[] => {
    const unused: number[] = []
    for (let nonce = first; nonce < end; nonce++) {
      if (unused.length > mostForeign) break
      if (!used.has(nonce)) unused.push(nonce)
    }
    return unused
  }
  // Nearly always there is no gap. Then the node's pool need not be asked.
  const unused =
    unusedFrom(count).length > 0
      ? unusedFrom(Math.max(count, await pendingCount()))
      : []
  const now = performance.now()
  const gaps = nonces.noticeGaps(unused, now)
  return {
    nonces: [...gaps].flatMap(([gap, { looks, since }]) =>
      looks > gapLooks && now - since >= gapTime ? gap : [],
    ),
    isWide: gaps.size > mostForeign,
  }
}

/**
 * Gas of a transfer to an account without code, without the gas that a rollup
 * adds for L1.
 */
const plainGas = 21_000n

/**
 * Builds a filler: a transfer of 0 wei to the account itself, which only uses
 * up an account nonce.
 */
export async function fillerCall({ reader, wallet }: SubmitterState): Promise<{
  call: { to: Address; data: Hex }
  gas: bigint
}> {
  const { account: to } = wallet.submitter
  const { result } = await tryRequest(reader, 'eth_estimateGas', [
    { from: to, to, value: '0x0' },
  ])
  const estimate = /^0x[\da-f]{1,16}$/i.test(String(result))
    ? BigInt(String(result))
    : plainGas
  // The estimate is higher if the chain is a rollup, which adds gas for L1, or
  // the account has code. Then allow a quarter more.
  const gas = estimate > plainGas ? (estimate * 5n) / 4n : plainGas
  return { call: { to, data: '0x' }, gas }
}
