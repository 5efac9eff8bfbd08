import type { Hash, Hex } from 'viem'
import { isKeyAway } from '../../store/isKeyAway.js'
import type { SealContext, TransactionRecord } from '../../store/types.js'
import { collectChanges } from '../model/collectChanges.js'
import { loadOrders } from '../model/loadOrders.js'
import { openSealed } from '../model/openSealed.js'
import { sealContextOf } from '../model/paymentOf.js'
import type { StoredOrder } from '../model/storedOrder.js'
import type { OrdersContext } from '../model/types.js'
import { groupByNonce, newestOf } from './judgeNonces.js'
import type { SubmitterView } from './readSubmitter.js'
import { type RecordedBytes, sealOfRow } from './recordTransactions.js'
import { sendRecorded } from './sendRecorded.js'
import { nonceName, type SubmitterState } from './submitterState.js'

/** Ticks before the same bytes are sent again. */
const sendEvery = 4

/** Most that are sent again in one tick. */
const most = 100

/** Sends again, as recorded, what the node's pool lacks. */
export async function resendTransactions(
  context: OrdersContext,
  submitter: SubmitterState,
  view: SubmitterView,
): Promise<void> {
  const rows = planResend(submitter, view)
  if (rows.length === 0) return
  const ids = [...new Set(rows.flatMap(({ orderId }) => orderId ?? []))]
  const collected = collectChanges(
    await context.store.read((tables) => loadOrders(tables, { ids })),
  )
  const bytes = await Promise.all(
    rows.map(async (row): Promise<RecordedBytes | undefined> => {
      const { nonce, hash } = row
      const file = collected.find(row.orderId, row.attempt)
      const place = sealOfRow(sealOf(row, file), row)
      const opening = openSealed(context, row.raw, place)
      const raw = await opening.catch((error: unknown) => {
        if (!isKeyAway(error)) throw error
        submitter.aside.put(nonceName('resend', nonce), error, row.orderId)
        return null
      })
      if (raw) return { nonce, hash, raw: raw as Hex }
      // The bytes cannot be opened. Replace them, unless the node already has
      // the transaction, or another shop that owns the order may have the key.
      submitter.sentAt.set(nonce, submitter.tick)
      const isOurs = !file || context.recipients.includes(file.order.recipient)
      if (raw === undefined && isOurs && nonce >= view.pendingCount)
        submitter.underpriced.add(nonce)
      return undefined
    }),
  )
  const whole = bytes.filter((one) => one !== undefined)
  await sendRecorded(context, submitter, view, whole)
}

type SignedRecord = TransactionRecord & { hash: Hash; raw: string }

/** Bytes the node does not count, and has not been given just now. Pure. */
function planResend(
  { inFlight, sentAt, tick, window, aside }: SubmitterState,
  { count, pendingCount }: Pick<SubmitterView, 'count' | 'pendingCount'>,
): SignedRecord[] {
  return groupByNonce(inFlight)
    .map(newestOf)
    .filter(({ nonce }) => nonce >= count && nonce < count + window)
    .filter(({ nonce }) => !aside.isWaiting(nonceName('resend', nonce)))
    .filter(({ nonce }) => {
      const last = sentAt.get(nonce)
      // Whoever took the submitter over sends all of it once.
      if (last === undefined) return true
      return nonce >= pendingCount && tick - last >= sendEvery
    })
    .filter(
      (row): row is SignedRecord =>
        row.hash !== undefined && row.raw !== undefined,
    )
    .slice(0, most)
}

/** What the bytes of a transaction are bound to. Pure. */
export function sealOf(
  {
    chainId,
    account,
    nonce,
  }: Pick<TransactionRecord, 'chainId' | 'account' | 'nonce'>,
  file: StoredOrder | undefined,
): SealContext {
  if (file) return sealContextOf('transaction', file.order, file.attempt)
  return {
    kind: 'transaction',
    orderId: `submitter:${chainId}:${account}`,
    attempt: 0,
    chainId,
    token: account,
    payer: account,
    nonce: `0x${nonce.toString(16).padStart(64, '0')}`,
  }
}
