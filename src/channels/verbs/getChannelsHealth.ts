import type { Hex } from 'viem'
import type { ChannelRecord, Destination } from '../../store/types.js'
import type { ChannelsContext } from './context.js'

/** A withdrawal that a payer announced while the channel owes something. */
export type ThreateningWithdrawal = {
  channelId: Hex
  /** Base units that are lost if they are not claimed before. */
  unclaimed: bigint
  /** Unix seconds from which the payer can finalize it. */
  finalizableAt: bigint
}

/** What the channels of one destination owe, and what needs attention. */
export type DestinationChannels = Destination & {
  /** Channels with a deposit. */
  channels: number
  /** Base units that were charged and not claimed yet. */
  unclaimed: bigint
  /** Unix seconds of the oldest charge that is not claimed; absent if none. */
  unclaimedSince: bigint | undefined
  /** The withdrawal that can be finalized first; absent if none threatens. */
  withdrawal: ThreateningWithdrawal | undefined
  /** Channels whose deposit does not cover what was charged. */
  uncovered: readonly Hex[]
  /** Channels whose deposit is on its way. */
  opening: number
}

/** The state of all channels of a shop. */
export type ChannelsHealth = {
  /** False if a withdrawal threatens what is owed, or a deposit is gone. */
  ok: boolean
  destinations: readonly DestinationChannels[]
}

/** Most channels that are loaded in one query. */
const mostLoaded = 1000

/** Most ids of channels that need attention. */
const mostNamed = 100

/** Implements `health` of `Channels`. */
export async function getChannelsHealth({
  context,
}: ChannelsContext): Promise<ChannelsHealth> {
  const sums = new Map<string, DestinationChannels>()
  let after: bigint | undefined
  for (;;) {
    const rows = await context.store.read(({ channels }) =>
      channels.find({
        watched: context.destinations,
        after,
        limit: mostLoaded,
      }),
    )
    for (const row of rows) {
      const { chainId, token, recipient } = row
      const name = `${chainId} ${token} ${recipient}`
      const none = noChannels({ chainId, token, recipient })
      sums.set(name, addChannel(sums.get(name) ?? none, row))
      after = row.position
    }
    if (rows.length < mostLoaded) break
  }
  const destinations = [...sums.values()]
  const ok = destinations.every(
    ({ withdrawal, uncovered }) => !withdrawal && uncovered.length === 0,
  )
  return { ok, destinations }
}

const noChannels = (destination: Destination): DestinationChannels => ({
  ...destination,
  channels: 0,
  unclaimed: 0n,
  unclaimedSince: undefined,
  withdrawal: undefined,
  uncovered: [],
  opening: 0,
})

function addChannel(
  sum: DestinationChannels,
  row: ChannelRecord,
): DestinationChannels {
  const { id, state, reason, charged, claimed, balance } = row
  const unclaimed = charged - claimed
  const isUncovered = reason === 'uncovered' && sum.uncovered.length < mostNamed
  return {
    ...sum,
    channels: sum.channels + (balance > 0n ? 1 : 0),
    unclaimed: sum.unclaimed + unclaimed,
    unclaimedSince: earliest(sum.unclaimedSince, row.unclaimedSince),
    withdrawal: soonest(sum.withdrawal, row),
    uncovered: isUncovered ? [...sum.uncovered, id] : sum.uncovered,
    opening: sum.opening + (state === 'opening' ? 1 : 0),
  }
}

function soonest(
  known: ThreateningWithdrawal | undefined,
  { id, charged, claimed, balance, withdrawing, withdrawableAt }: ChannelRecord,
): ThreateningWithdrawal | undefined {
  if (withdrawableAt === undefined || charged === claimed) return known
  // The withdrawal leaves enough.
  if (charged <= balance - withdrawing) return known
  if (known && known.finalizableAt <= withdrawableAt) return known
  const unclaimed = charged - claimed
  return { channelId: id, unclaimed, finalizableAt: withdrawableAt }
}

function earliest(
  one: bigint | undefined,
  other: bigint | undefined,
): bigint | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return one < other ? one : other
}
