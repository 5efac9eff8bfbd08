import type { Hash, Hex } from 'viem'
import { isKeyAway } from '../../store/isKeyAway.js'
import type { TransactionRecord } from '../../store/types.js'
import { collectChanges } from '../model/collectChanges.js'
import { loadOrders } from '../model/loadOrders.js'
import type { OrdersContext } from '../model/types.js'
import type { SubmitterView } from './getSubmitterView.js'
import { groupByNonce, newestOf } from './inFlight.js'
import { openSecrets, takeSecret } from './openSeals.js'
import { sendRecorded } from './sendRecorded.js'
import { type SignedBytes, sealOf, sealOfRow } from './signDrafts.js'
import { nonceName, type SubmitterState } from './submitterState.js'

/** Number of polls before the same bytes are sent again. */
const sendEvery = 4

/** Most transactions to send again in one poll. */
const most = 100

/**
 * Sends the stored bytes of transactions again if the node's pool lacks them.
 */
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
  const secrets = rows.map((row) => {
    const stored = collected.find(row.orderId, row.attempt)
    const place = sealOfRow(sealOf(row, stored), row)
    return { row, stored, sealed: row.raw, place }
  })
  // Transactions whose secrets open late are sent at a later poll.
  const open = await openSecrets(context, submitter, secrets)
  const bytes = await Promise.all(
    open.map(async (secret): Promise<SignedBytes | undefined> => {
      const { row, stored } = secret
      const { nonce, hash } = row
      const opening = takeSecret(context, submitter, secret)
      const raw = await opening.catch((error: unknown) => {
        if (!isKeyAway(error)) throw error
        submitter.aside.put(nonceName('resend', nonce), error, row.orderId)
        return null
      })
      if (raw) return { nonce, hash, raw: raw as Hex }
      // The bytes cannot be opened. Replace them, unless the node already has
      // the transaction, or another shop that owns the order may have the key.
      submitter.broadcasts.noteSent([nonce], submitter.pace.looks)
      const isOwnOrder =
        !stored || context.recipients.includes(stored.order.recipient)
      if (raw === undefined && isOwnOrder && nonce >= view.pendingCount)
        submitter.broadcasts.refuse(nonce)
      return undefined
    }),
  )
  const whole = bytes.filter((one) => one !== undefined)
  await sendRecorded(context, submitter, view, whole)
}

type SignedRecord = TransactionRecord & { hash: Hash; raw: string }

/**
 * Finds transactions that the node does not count and that were not just sent.
 * Pure.
 */
function planResend(
  { inFlight, broadcasts, pace, aside }: SubmitterState,
  { count, pendingCount }: Pick<SubmitterView, 'count' | 'pendingCount'>,
): SignedRecord[] {
  return groupByNonce(inFlight.rows)
    .map(newestOf)
    .filter(
      ({ nonce }) => nonce >= count && nonce < count + broadcasts.admitted,
    )
    .filter(({ nonce }) => !aside.isWaiting(nonceName('resend', nonce)))
    .filter(({ nonce }) => {
      const last = broadcasts.sentAt(nonce)
      // We have not sent it since we took the lease, so send it once.
      if (last === undefined) return true
      return nonce >= pendingCount && pace.looks - last >= sendEvery
    })
    .filter(
      (row): row is SignedRecord =>
        row.hash !== undefined && row.raw !== undefined,
    )
    .slice(0, most)
}
