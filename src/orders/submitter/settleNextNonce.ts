import type { OrdersContext } from '../model/types.js'
import { judgeNextNonce } from './judgeNextNonce.js'
import type { SubmitterView } from './readSubmitter.js'
import type { SubmitterState } from './submitterState.js'

/**
 * Sets the account nonce from which the submitter sends next.
 *
 * @returns `false` while the nonce is unclear; then nothing is sent at this
 * look.
 */
export async function settleNextNonce(
  context: OrdersContext,
  submitter: SubmitterState,
  view: SubmitterView,
): Promise<boolean> {
  const { next, claim } = judgeNextNonce(submitter, view)
  submitter.claim = claim
  const { nextNonce } = submitter.value
  const isUnclear =
    next === undefined ||
    (next < nextNonce && (await wasUsed(context, submitter, next)))
  if (isUnclear) {
    const { count, pendingCount } = view
    context.observe({
      name: 'submitter.waits',
      attributes: {
        ...submitter.wallet.submitter,
        reason: 'nonceUnclear',
        nextNonce,
        count,
        pendingCount,
      },
    })
    return false
  }
  submitter.value = { ...submitter.value, nextNonce: next }
  return true
}

/**
 * True when a transaction is on record at the nonce, so the chain was there.
 */
async function wasUsed(
  { store }: OrdersContext,
  { wallet }: SubmitterState,
  nonce: number,
): Promise<boolean> {
  const rows = await store.read(({ transactions }) =>
    transactions.find({ at: wallet.submitter, nonce }),
  )
  return rows.length > 0
}
