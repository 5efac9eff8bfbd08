import { wait } from '../../core/wait.js'
import type { OrdersContext } from '../model/types.js'
import { openSubmitter } from './openSubmitter.js'
import type { SubmitterState } from './submitterState.js'

/** The longest turn at a submitter, as a multiple of the lease. */
const mostLeases = 3

/**
 * Does work on a submitter and renews its lease meanwhile, so that a slow node or
 * wallet does not cost the lease. Stops renewing after a while, so that work
 * that hangs leaves the submitter to others.
 */
export async function holdSubmitter<result>(
  context: OrdersContext,
  submitter: SubmitterState,
  work: () => Promise<result>,
): Promise<result> {
  const { lease } = context.policy
  const { wallet, aside } = submitter
  const over = new AbortController()
  const end = performance.now() + longestTurn(context, submitter)
  const prolong = async (): Promise<void> => {
    for (;;) {
      await wait(lease / 3, over.signal)
      if (over.signal.aborted || performance.now() > end) return
      const kept = await openSubmitter(context, { wallet, submitter, aside })
      if (kept !== submitter) return
    }
  }
  // If the store fails, the work fails too and reports it.
  const prolonging = prolong().catch(() => undefined)
  try {
    return await work()
  } finally {
    over.abort()
    await prolonging
  }
}

/**
 * Most milliseconds of one turn; longer where a person confirms in a wallet.
 */
function longestTurn(
  { policy: { lease, walletTimeout } }: Pick<OrdersContext, 'policy'>,
  { wallet }: Pick<SubmitterState, 'wallet'>,
): number {
  const isLocal = wallet.account.type === 'local'
  return isLocal ? mostLeases * lease : mostLeases * lease + walletTimeout
}
