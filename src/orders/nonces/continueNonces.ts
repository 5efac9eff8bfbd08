import { checkChain } from '../../chain/state/checkChain.js'
import type { AccountNonces, NonceClaim } from '../account/accountNonces.js'
import { fillRestored, type SubmitterCounts } from '../account/fillRestored.js'
import type { SubmitterView } from '../account/getSubmitterView.js'
import type { InFlight } from '../account/inFlight.js'
import type { SubmitterState } from '../account/submitterState.js'
import type { OrdersContext } from '../context/types.js'

/**
 * Sets `nonces.value.nextNonce` to the account nonce that follows from the
 * node's answers and the stored transactions.
 * @returns `false` while the two contradict each other; then this poll sends
 * nothing.
 */
export async function continueNonces(
  context: OrdersContext,
  submitter: SubmitterState,
  view: SubmitterView,
): Promise<boolean> {
  const { nonces, inFlight } = submitter
  const { count } = view
  const counts = { count, pendingCount: await view.pendingCount() }
  if (!(await fillRestored(context, submitter, counts))) return false
  const { next, claim } = judgeNextNonce({ nonces, inFlight }, counts)
  nonces.rememberClaim(claim)
  const { nextNonce } = nonces.value
  const isUnclear =
    next === undefined ||
    (next < nextNonce && (await wasUsed(context, submitter, next)))
  if (isUnclear) {
    context.observe({
      name: 'submitter.waits',
      attributes: {
        ...submitter.wallet.submitter,
        reason: 'nonceUnclear',
        nextNonce,
        ...counts,
      },
    })
    return false
  }
  if (next !== nextNonce)
    await checkChain(submitter.reader, submitter.wallet.submitter.chainId)
  nonces.continueFrom(next)
  return true
}

/**
 * True when a transaction of ours has this account nonce. A node that reports
 * the nonce as unused is then behind.
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

/**
 * Number of polls in a row that must report the same unexpected account nonce
 * before we use it.
 */
const looksToBelieveNonce = 3

/**
 * If the node reports more foreign pending transactions than this, its answer
 * is probably wrong.
 */
export const mostForeign = 16

/**
 * Decides which account nonce the submitter uses next.
 * @returns `next: undefined` while the node's answers contradict each other or
 * our stored transactions, or while an unexpected answer has not been repeated
 * often enough.
 */
export function judgeNextNonce(
  {
    nonces,
    inFlight,
  }: {
    nonces: Pick<AccountNonces, 'value' | 'claim'>
    inFlight: Pick<InFlight, 'rows'>
  },
  { count, pendingCount }: SubmitterCounts,
): { next: number | undefined; claim: NonceClaim | undefined } {
  const own = nonces.value.nextNonce
  const known = Math.max(own, count)
  if (pendingCount > known + mostForeign)
    return { next: undefined, claim: undefined }
  const reported = Math.max(count, pendingCount)
  if (reported > own) return confirm(nonces.claim, reported)
  const isUsed = inFlight.rows.some(({ nonce }) => nonce >= reported)
  // Our next nonce is far ahead of the chain's, and no transaction of ours
  // explains that.
  if (own > reported + mostForeign && !isUsed)
    return confirm(nonces.claim, reported)
  return { next: own, claim: undefined }
}

function confirm(
  before: NonceClaim | undefined,
  nonce: number,
): { next: number | undefined; claim: NonceClaim } {
  const looks = before?.nonce === nonce ? before.looks + 1 : 1
  return {
    next: looks >= looksToBelieveNonce ? nonce : undefined,
    claim: { nonce, looks },
  }
}
