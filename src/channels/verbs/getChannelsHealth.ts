import type { Hex } from 'viem'
import { lowerOf } from '../../core/lowerOf.js'
import type {
  ChannelRecord,
  Destination,
  OrderRecord,
  StoreReader,
} from '../../store/types.js'
import type { ChannelsContext } from './context.js'
import { isMovementOver } from './followMovements.js'
import { findOpenClaims } from './openClaims.js'

/** An announced withdrawal that takes some of what its channel owes. */
export type ThreateningWithdrawal = {
  channelId: Hex
  /** Base units that the channel owes: the most that can be lost. */
  unclaimed: bigint
  /** Unix seconds from which the payer can finalize it. */
  finalizableAt: bigint
  /**
   * The claim that saves it. `requested`: on record. `sent`: its transaction
   * is sent, and no block has it yet. `none`: a worker must request it.
   */
  claim: 'none' | 'requested' | 'sent'
  /** True while the claim is on its way and the payer cannot finalize yet. */
  inTime: boolean
}

/** A channel and what it owes. */
export type OwingChannel = {
  channelId: Hex
  /** Base units that were charged and not claimed yet. */
  unclaimed: bigint
}

/** What the channels of one destination owe, and what needs attention. */
export type DestinationChannels = Destination & {
  /** Number of channels with a deposit. */
  channels: number
  /** Base units that were charged and not claimed yet. */
  unclaimed: bigint
  /** Unix seconds of the oldest charge that is not claimed; absent if none. */
  unclaimedSince: bigint | undefined
  /** The channels that owe most, at most ten. */
  owing: readonly OwingChannel[]
  /** The one that can be finalized first; absent if there is none. */
  withdrawal: ThreateningWithdrawal | undefined
  /**
   * Channels whose deposit does not cover the charges, at most a hundred.
   */
  uncovered: readonly Hex[]
  /** Number of deposits that are on record and not credited yet. */
  opening: number
  /** When the oldest of them was stored, in Unix seconds; absent if none. */
  openingSince: bigint | undefined
}

/** What all channels of one token owe. */
export type TokenChannels = Pick<Destination, 'chainId' | 'token'> & {
  /** Base units that were charged and not claimed yet. */
  unclaimed: bigint
}

/** The state of all channels of a shop. */
export type ChannelsHealth = {
  /**
   * False if any destination has `uncovered` channels or a `withdrawal`, even if
   * its claim is `inTime`: until a block has the claim, it can fail.
   */
  ok: boolean
  /** What is owed in all, by token. */
  unclaimed: readonly TokenChannels[]
  destinations: readonly DestinationChannels[]
}

/** Most channels that are loaded in one query. */
const mostLoaded = 1000

/** Most ids of channels that need attention. */
const mostNamed = 100

/** Most channels in `owing`. */
const mostOwing = 10

/** Implements `health` of `Channels`. */
export async function getChannelsHealth({
  context,
}: ChannelsContext): Promise<ChannelsHealth> {
  const sums = new Map<string, DestinationChannels>()
  let after: bigint | undefined
  for (;;) {
    const { rows, deposits } = await context.store.read((tables) =>
      loadPage(tables, context.destinations, after),
    )
    for (const row of rows) {
      const { chainId, token, recipient } = row
      const name = `${chainId} ${token} ${recipient}`
      const none = noChannels({ chainId, token, recipient })
      const deposit = deposits.get(row.depositId)
      sums.set(name, addChannel(sums.get(name) ?? none, row, deposit))
      after = row.position
    }
    if (rows.length < mostLoaded) break
  }
  const now = context.now() / 1000n
  const destinations = await context.store.read((tables) =>
    Promise.all(
      [...sums.values()].map(async (one) => ({
        ...one,
        withdrawal: await withClaim(tables, one.withdrawal, now),
      })),
    ),
  )
  const ok = destinations.every(
    ({ withdrawal, uncovered }) => !withdrawal && uncovered.length === 0,
  )
  return { ok, unclaimed: sumTokens(destinations), destinations }
}

/** Loads channels, and their deposits that may not be credited yet. */
async function loadPage(
  { channels, orders }: StoreReader,
  watched: readonly Destination[],
  after: bigint | undefined,
) {
  const rows = await channels.find({ watched, after, limit: mostLoaded })
  const ids = rows.flatMap(({ depositId }) => depositId ?? [])
  const found = ids.length > 0 ? await orders.find({ ids }) : []
  const deposits = new Map<string | undefined, OrderRecord>(
    found.map((order) => [order.id, order]),
  )
  return { rows, deposits }
}

const noChannels = (destination: Destination): DestinationChannels => ({
  ...destination,
  channels: 0,
  unclaimed: 0n,
  unclaimedSince: undefined,
  owing: [],
  withdrawal: undefined,
  uncovered: [],
  opening: 0,
  openingSince: undefined,
})

function addChannel(
  sum: DestinationChannels,
  row: ChannelRecord,
  deposit: OrderRecord | undefined,
): DestinationChannels {
  const { id, reason, charged, claimed, balance } = row
  const isUncovered = reason === 'uncovered' && sum.uncovered.length < mostNamed
  const isOpening =
    deposit && deposit.state !== 'captured' && !isMovementOver(deposit)
  return {
    ...sum,
    channels: sum.channels + (balance > 0n ? 1 : 0),
    unclaimed: sum.unclaimed + charged - claimed,
    unclaimedSince: lowerOf(sum.unclaimedSince, row.unclaimedSince),
    owing: addOwing(sum.owing, row),
    withdrawal: soonest(sum.withdrawal, row),
    uncovered: isUncovered ? [...sum.uncovered, id] : sum.uncovered,
    opening: sum.opening + (isOpening ? 1 : 0),
    openingSince: isOpening
      ? lowerOf(sum.openingSince, deposit.createdAt)
      : sum.openingSince,
  }
}

function addOwing(
  known: readonly OwingChannel[],
  { id, charged, claimed }: ChannelRecord,
): readonly OwingChannel[] {
  const unclaimed = charged - claimed
  const least = known[mostOwing - 1]
  if (unclaimed <= 0n || (least && least.unclaimed >= unclaimed)) return known
  return [...known, { channelId: id, unclaimed }]
    .sort((one, other) => (one.unclaimed > other.unclaimed ? -1 : 1))
    .slice(0, mostOwing)
}

function soonest(
  known: ThreateningWithdrawal | undefined,
  { id, charged, claimed, balance, withdrawing, withdrawableAt }: ChannelRecord,
): ThreateningWithdrawal | undefined {
  if (withdrawableAt === undefined || charged === claimed) return known
  // The withdrawal leaves enough.
  if (charged <= balance - withdrawing) return known
  if (known && known.finalizableAt <= withdrawableAt) return known
  return {
    channelId: id,
    unclaimed: charged - claimed,
    finalizableAt: withdrawableAt,
    claim: 'none',
    inTime: false,
  }
}

/** Adds whether the claim of a channel is on its way, as far as we know. */
async function withClaim(
  tables: Pick<StoreReader, 'orders' | 'attempts' | 'notes'>,
  withdrawal: ThreateningWithdrawal | undefined,
  now: bigint,
): Promise<ThreateningWithdrawal | undefined> {
  if (!withdrawal) return undefined
  const { channelId, finalizableAt } = withdrawal
  const open = (await findOpenClaims(tables, [channelId])).get(channelId)
  const isSent = open?.order.state === 'capturing'
  const claim = isSent ? 'sent' : open ? 'requested' : 'none'
  const inTime = claim !== 'none' && now < finalizableAt
  return { ...withdrawal, claim, inTime }
}

function sumTokens(
  destinations: readonly DestinationChannels[],
): TokenChannels[] {
  const sums = new Map<string, TokenChannels>()
  for (const { chainId, token, unclaimed } of destinations) {
    const name = `${chainId} ${token}`
    const before = sums.get(name)?.unclaimed ?? 0n
    sums.set(name, { chainId, token, unclaimed: before + unclaimed })
  }
  return [...sums.values()]
}
