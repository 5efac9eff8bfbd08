import { checkClock } from '../../core/clock.js'
import type { HasClock, SettledPolicy } from './types.js'

/**
 * Refuses a block whose time differs by over 120 seconds from this machine's
 * clock, unless `policy.chainClock` is `'own'`.
 * @throws {@link ClockSkewError}
 */
export function checkChainClock(
  { now, policy }: HasClock & { policy: Pick<SettledPolicy, 'chainClock'> },
  head: { timestamp: bigint; chainId: number },
): void {
  if (policy.chainClock === 'checked') checkClock(head, now() / 1000n)
}
