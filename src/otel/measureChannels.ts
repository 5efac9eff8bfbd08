import type { ChannelsHealth } from '../channels/engine.js'
import { ageOf, gauges, leastOf, sum } from './gauges.js'
import type { Measurement } from './metricTable.js'

/** Returns the gauges of what the channels of a shop owe. */
export function measureChannels(
  { destinations }: ChannelsHealth,
  now: number,
): Measurement[] {
  const ids = [...new Set(destinations.map(({ chainId }) => chainId))]
  return ids.flatMap((chainId) => {
    const own = destinations.filter((one) => one.chainId === chainId)
    const oldest = (times: readonly (bigint | undefined)[]) => {
      const since = leastOf(
        times.flatMap((time) => (time === undefined ? [] : Number(time))),
      )
      return since === undefined ? 0 : ageOf(since * 1000, now)
    }
    return gauges(
      { 'countersign.chain_id': chainId },
      {
        'countersign.channel.withdrawals': own.filter(
          ({ withdrawal }) => withdrawal !== undefined,
        ).length,
        'countersign.channel.uncovered': sum(
          own.map(({ uncovered }) => uncovered.length),
        ),
        'countersign.channel.unclaimed.age': oldest(
          own.map(({ unclaimedSince }) => unclaimedSince),
        ),
        'countersign.channel.opening.age': oldest(
          own.map(({ openingSince }) => openingSince),
        ),
      },
    )
  })
}
