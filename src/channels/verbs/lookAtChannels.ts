import type { Hex } from 'viem'
import { getHeads } from '../../chain/state/getHeads.js'
import { type ClientGroup, clientOf } from '../../orders/engine.js'
import type { ChannelRecord } from '../../store/types.js'
import { isNewWithdrawal } from '../record/copyChain.js'
import { planWithdrawal } from '../record/planWithdrawal.js'
import { claimUrgent } from './claimChannels.js'
import { claimDue } from './claimDue.js'
import type { ChannelsContext } from './context.js'
import { followMovements } from './followMovements.js'
import { refreshChannels } from './refreshChannels.js'
import {
  findSeenLogs,
  type SeenLogs,
  type SeenWithdrawal,
} from './watchWithdrawals.js'

/** What the watch of one client's channels remembers between two passes. */
export type ChannelsMemory = {
  /** Tokens of the known channels, by channel id. */
  known: Map<Hex, ChannelRecord['token']>
  /** Position of the newest known channel. */
  after: bigint | undefined
  /** Channels whose state must be copied from the chain. */
  stale: Set<Hex>
  /** Channels whose deposit or refund is not final, and its last step. */
  followed: Map<Hex, string>
  /** Newest block whose logs were read, and where those were. */
  seenBlock: bigint | undefined
  places: SeenLogs['places']
}

export const openMemory = (): ChannelsMemory => ({
  known: new Map(),
  after: undefined,
  stale: new Set(),
  followed: new Map(),
  places: new Map(),
  seenBlock: undefined,
})

/**
 * Blocks that are read again at the next pass: a reorganization may have brought
 * other logs there.
 */
const overlap = 12n

/**
 * Looks once after the channels of one client: sees announced withdrawals, copies
 * what changed on chain, and claims what is due. The first pass copies the state
 * of all channels, since nobody knows what happened while no worker ran.
 */
export async function lookAtChannels(
  channels: ChannelsContext,
  group: ClientGroup,
  memory: ChannelsMemory,
): Promise<void> {
  // A node that refuses the logs must not stop the claims.
  const [looked] = await Promise.allSettled([look(channels, group, memory)])
  await claimDue(channels, group, memory)
  if (looked.status === 'rejected') throw looked.reason
}

async function look(
  channels: ChannelsContext,
  group: ClientGroup,
  memory: ChannelsMemory,
): Promise<void> {
  const client = clientOf(channels.context, {
    chainId: group.chainId,
    token: group.tokens[0],
  })
  await findNew(channels, group, memory)
  if (memory.known.size > 0) {
    const { latest } = await getHeads(client, channels.context.policy)
    const { seenBlock = latest.number } = memory
    const isNewBlock = seenBlock !== latest.number
    const from = seenBlock - overlap
    const ids = new Set(memory.known.keys())
    const seen = await findSeenLogs(client, ids, from > 0n ? from : 0n)
    await stopWithdrawn(channels, seen.withdrawals)
    markChanged(memory, seen, from)
    memory.places = seen.places
    memory.seenBlock = latest.number
    await markMoved(channels, memory, isNewBlock)
    await refreshStale(channels, group, memory, seen.preconfirmed)
  }
}

/**
 * Marks channels with a log that came since the last pass, or that is in no block
 * any more, though its block was read again.
 */
function markChanged(
  { stale, places }: ChannelsMemory,
  seen: SeenLogs,
  from: bigint,
): void {
  for (const [place, { id }] of seen.places)
    if (!places.has(place)) stale.add(id)
  for (const [place, { id, blockNumber }] of places)
    if (!seen.places.has(place) && blockNumber >= from) stale.add(id)
}

/**
 * Marks channels whose deposit or refund took a step, such as a block that has
 * it, a reorganization or its finality. A new block may show the claim that a
 * refund waits for, and a first deposit that a node behind the others did not
 * show yet.
 */
async function markMoved(
  channels: ChannelsContext,
  { followed, stale }: ChannelsMemory,
  isNewBlock: boolean,
): Promise<void> {
  const ids = [...followed.keys()].filter((id) => !stale.has(id))
  if (ids.length === 0) return
  const rows = await channels.context.store.read((tables) =>
    tables.channels.find({ ids }),
  )
  const steps = await followMovements(channels, rows)
  for (const { id, state, reason } of rows) {
    const isMoved = steps.get(id) !== followed.get(id)
    const isWaiting = state !== 'open' || reason !== undefined
    if (isMoved || (isWaiting && isNewBlock)) stale.add(id)
  }
}

/** Most channels that are loaded in one query. */
const mostLoaded = 1000

/** Finds channels that were opened since the last pass, by any process. */
async function findNew(
  { context }: ChannelsContext,
  group: ClientGroup,
  memory: ChannelsMemory,
): Promise<void> {
  for (;;) {
    const { after } = memory
    const rows = await context.store.read(({ channels }) =>
      channels.find({
        watched: group.destinations(),
        after,
        limit: mostLoaded,
      }),
    )
    for (const { id, token, position } of rows) {
      memory.known.set(id, token)
      memory.after = position
      memory.stale.add(id)
    }
    if (rows.length < mostLoaded) return
  }
}

/** Stops channels whose payer announced a withdrawal, and has them claimed. */
async function stopWithdrawn(
  { context, book }: ChannelsContext,
  withdrawals: readonly SeenWithdrawal[],
): Promise<void> {
  const now = context.now() / 1000n
  for (const { id, ...withdrawal } of withdrawals) {
    let isNew = false
    const stopped = await book.change(id, (channel) => {
      isNew = isNewWithdrawal(channel, withdrawal.withdrawableAt)
      return isNew ? planWithdrawal(channel, withdrawal, now) : undefined
    })
    if (!isNew || !stopped) continue
    const { chainId, charged, claimed } = stopped
    context.observe({
      name: 'channels.withdrawal',
      attributes: { chainId, channelId: id, isOwed: charged > claimed },
    })
  }
}

async function refreshStale(
  channels: ChannelsContext,
  { chainId, tokens }: ClientGroup,
  { known, stale, followed }: ChannelsMemory,
  preconfirmed: ReadonlySet<Hex>,
): Promise<void> {
  // The blocks do not have it yet, and would undo what the log has shown.
  const ready = [...stale].filter((id) => !preconfirmed.has(id))
  for (const token of new Set([...tokens, ...known.values()])) {
    const own = ready.filter((id) => known.get(id) === token)
    if (own.length === 0) continue
    const rows = await refreshChannels(channels, { chainId, token }, own)
    await claimUrgent(channels, rows)
    const steps = await followMovements(channels, rows)
    for (const id of own) {
      stale.delete(id)
      const step = steps.get(id)
      if (step === undefined) followed.delete(id)
      else followed.set(id, step)
    }
  }
}
