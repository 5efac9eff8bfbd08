import type { Hash, Hex } from 'viem'
import { isKeyAway } from '../../store/isKeyAway.js'
import { ordersOf } from '../../store/movements.js'
import type { TransactionRecord } from '../../store/types.js'
import type { SubmitterView } from '../account/getSubmitterView.js'
import { groupByNonce, newestOf } from '../account/inFlight.js'
import { openSecrets, takeSecret } from '../account/openSeals.js'
import { nonceName, type SubmitterState } from '../account/submitterState.js'
import type { OrdersContext } from '../context/types.js'
import { sendRecorded } from '../sending/sendRecorded.js'
import { type SignedBytes, sealOf } from '../sending/signDrafts.js'

/** Number of polls after which the same bytes are sent again. */
const sendEvery = 4

/** Most transactions to send again in one poll. */
const most = 100

/**
 * Sends the stored bytes of transactions again if the node does not have them.
 */
export async function resendTransactions(
  context: OrdersContext,
  submitter: SubmitterState,
  view: SubmitterView,
): Promise<void> {
  const rows = await planResend(submitter, view)
  if (rows.length === 0) return
  const secrets = rows.map((row) => {
    return { row, sealed: row.raw, place: sealOf(row) }
  })
  // Transactions whose bytes are not decrypted in time are sent in a later
  // poll.
  const open = await openSecrets(context, submitter, secrets)
  const bytes = await Promise.all(
    open.map(async (secret): Promise<SignedBytes | undefined> => {
      const { row } = secret
      const { nonce, hash } = row
      const opening = takeSecret(context, submitter, secret)
      const raw = await opening.catch((error: unknown) => {
        if (!isKeyAway(error)) throw error
        submitter.aside.put(
          nonceName('resend', nonce),
          error,
          ordersOf([row])[0],
        )
        return null
      })
      if (raw) return { nonce, hash, raw: raw as Hex }
      submitter.broadcasts.noteSent([nonce], submitter.pace.looks)
      const isBroken = raw === undefined && nonce >= (await view.pendingCount())
      if (isBroken && (await isOwn(context, row)))
        submitter.broadcasts.refuse(nonce)
      return undefined
    }),
  )
  const whole = bytes.filter((one) => one !== undefined)
  sendRecorded(context, submitter, view, whole)
  await submitter.broadcasts.answered()
}

/**
 * True unless an order of the transaction belongs to another shop, which may
 * have the key. A transaction of our own whose bytes cannot be decrypted is replaced.
 */
async function isOwn(
  { store, recipients }: OrdersContext,
  row: TransactionRecord,
): Promise<boolean> {
  const ids = ordersOf([row])
  const orders = await store.read((tables) => tables.orders.find({ ids }))
  return orders.every(({ recipient }) => recipients.includes(recipient))
}

type SignedRecord = TransactionRecord & { hash: Hash; raw: string }

/**
 * Finds transactions that the node's pending count does not include and that
 * were not just sent.
 */
async function planResend(
  { inFlight, broadcasts, pace, aside }: SubmitterState,
  { count, pendingCount }: Pick<SubmitterView, 'count' | 'pendingCount'>,
): Promise<SignedRecord[]> {
  const waiting = groupByNonce(inFlight.rows)
    .map(newestOf)
    .filter(
      ({ nonce }) => nonce >= count && nonce < count + broadcasts.admitted,
    )
    .filter(({ nonce }) => !aside.isWaiting(nonceName('resend', nonce)))
    .filter(
      (row): row is SignedRecord =>
        row.hash !== undefined && row.raw !== undefined,
    )
  // Send each transaction once after taking the lease, because we do not know
  // what the last holder sent.
  const isNew = ({ nonce }: SignedRecord) =>
    broadcasts.sentAt(nonce) === undefined
  const isDue = ({ nonce }: SignedRecord) =>
    pace.looks - (broadcasts.sentAt(nonce) ?? pace.looks) >= sendEvery
  const counted = waiting.some(isDue) ? await pendingCount() : 0
  return waiting
    .filter((row) => isNew(row) || (isDue(row) && row.nonce >= counted))
    .slice(0, most)
}
