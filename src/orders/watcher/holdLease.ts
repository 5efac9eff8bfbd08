import { wait } from '../../core/wait.js'
import type { Lease } from '../../store/types.js'
import type { OrdersContext } from '../model/types.js'

/**
 * Works under a lease that is prolonged for as long as the work takes, so that
 * slow nodes do not let two processes take turns at it for ever.
 *
 * Does not stop work whose lease is lost all the same: its writes are refused.
 */
export async function holdLease<result>(
  { store, owner, policy }: OrdersContext,
  lease: Lease | undefined,
  work: () => Promise<result>,
): Promise<result> {
  const over = new AbortController()
  const prolong = async (key: string): Promise<void> => {
    const milliseconds = policy.lease
    for (;;) {
      await wait(milliseconds / 3, over.signal)
      if (over.signal.aborted) return
      if (!(await store.takeLease({ key, owner, milliseconds }))) return
    }
  }
  // A store that does not answer shows in the work itself.
  const prolonging = lease && prolong(lease.key).catch(() => undefined)
  try {
    return await work()
  } finally {
    over.abort()
    await prolonging
  }
}
