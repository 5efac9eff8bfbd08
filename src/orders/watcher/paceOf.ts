import type { Client } from 'viem'
import { quietIntervalOf } from '../model/quietIntervalOf.js'
import type { SettledPolicy } from '../model/types.js'

/** How often to poll a chain: milliseconds between two polls. */
export type WatchPace = {
  /**
   * Between two polls while something waits for the chain, such as a
   * transaction in flight.
   */
  interval: number
  /** Between two polls while nothing waits for the chain. */
  quiet: number
}

export function paceOf(
  policy: SettledPolicy,
  client: Pick<Client, 'pollingInterval'>,
  chainId: number,
): WatchPace {
  const interval = policy.pollingInterval ?? client.pollingInterval
  return { interval, quiet: quietIntervalOf(policy, { chainId, interval }) }
}
