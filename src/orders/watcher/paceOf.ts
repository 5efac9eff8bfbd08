import type { Client } from 'viem'
import { devChainIds } from '../../core/clock.js'
import type { SettledPolicy } from '../model/types.js'

/** How often to look at a chain, in milliseconds. */
export type WatchPace = {
  /** Between two looks while something waits for the chain. */
  interval: number
  /** Between two looks while nothing does. */
  quiet: number
}

/** Milliseconds between two looks at a quiet chain. */
const usuallyQuiet = 15_000

/**
 * How often to look at a chain. A development chain is never quiet by default,
 * so that a developer does not wait for it.
 */
export function paceOf(
  { pollingInterval, quietInterval }: SettledPolicy,
  client: Pick<Client, 'pollingInterval'>,
  chainId: number,
): WatchPace {
  const interval = pollingInterval ?? client.pollingInterval
  const usual = devChainIds.includes(chainId) ? interval : usuallyQuiet
  const quiet = quietInterval ?? pollingInterval ?? usual
  return { interval, quiet: Math.max(interval, quiet) }
}
