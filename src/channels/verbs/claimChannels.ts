import type { Hex } from 'viem'
import { checkMembers } from '../../core/checkMembers.js'
import { InvalidFieldError } from '../../core/errors.js'
import { parseBytes32 } from '../../core/fields.js'
import { type ClientGroup, waitForCapture } from '../../orders/engine.js'
import { openSealed } from '../../store/openSealed.js'
import type { ChannelRecord, OrderRecord } from '../../store/types.js'
import { writeAgain } from '../../store/writeAgain.js'
import { openAuthorizer } from '../movements/authorizer.js'
import { type PlannedRow, planClaim } from '../movements/planMovement.js'
import { signClaim } from '../movements/signMovement.js'
import { insertMovement, sealMovement } from '../movements/writeMovement.js'
import { configOf } from '../record/configOf.js'
import { voucherPlace } from '../record/voucherPlace.js'
import type { ChannelsContext } from './context.js'
import { loadChannel } from './listChannels.js'
import { movementFacts } from './movementFacts.js'
import { refreshChannels } from './refreshChannels.js'

/** Most channels that one transaction claims from. */
const mostRows = 100

/**
 * Seconds after which a claim that was requested is looked at again. If it was
 * made, nothing is owed any more.
 */
const checkAfter = 120n

/** Claims the channels of one client that are due. */
export async function claimDue(
  channels: ChannelsContext,
  { destinations }: ClientGroup,
): Promise<void> {
  const { context } = channels
  const until = context.now() / 1000n
  const rows = await context.store.read((tables) =>
    tables.channels.find({ due: destinations(), until, limit: mostRows }),
  )
  if (rows.length > 0) await requestClaims(channels, rows)
}

/**
 * Requests the claims of channels that owe something, by what the chain says
 * now: one transaction for up to a hundred of one receiver and authorizer.
 *
 * @returns the rows of the claims.
 */
export async function requestClaims(
  channels: ChannelsContext,
  given: readonly ChannelRecord[],
): Promise<OrderRecord[]> {
  const claims: OrderRecord[] = []
  for (const ids of groupIds(given, tokenOf)) {
    const [first] = ids
    if (!first) continue
    const fresh = await refreshChannels(
      channels,
      first,
      ids.map(({ id }) => id),
    )
    const owed = fresh.filter(({ charged, claimed }) => charged > claimed)
    await endDue(
      channels,
      fresh.filter((row) => !owed.includes(row)),
    )
    for (const group of groupIds(owed, claimOf))
      for (let from = 0; from < group.length; from += mostRows) {
        const part = group.slice(from, from + mostRows)
        const claim = await requestClaim(channels, part)
        if (claim) claims.push(claim)
      }
  }
  return claims
}

const tokenOf = ({ chainId, token }: ChannelRecord) => `${chainId} ${token}`

/** Only channels with the same of these can share a claim. */
const claimOf = ({ recipient, receiverAuthorizer }: ChannelRecord) =>
  `${recipient} ${receiverAuthorizer}`

function groupIds(
  rows: readonly ChannelRecord[],
  nameOf: (row: ChannelRecord) => string,
): ChannelRecord[][] {
  const groups = new Map<string, ChannelRecord[]>()
  for (const row of rows) {
    const name = nameOf(row)
    const known = groups.get(name)
    if (known) known.push(row)
    else groups.set(name, [row])
  }
  return [...groups.values()]
}

/** Nothing is owed: the channel is due again when it is charged. */
async function endDue(
  { book }: ChannelsContext,
  rows: readonly ChannelRecord[],
): Promise<void> {
  for (const { id } of rows)
    await book.change(id, (channel) =>
      channel.charged > channel.claimed || channel.due === undefined
        ? undefined
        : { ...channel, due: undefined },
    )
}

async function requestClaim(
  channels: ChannelsContext,
  rows: readonly ChannelRecord[],
): Promise<OrderRecord | undefined> {
  const { context, book, instance } = channels
  const opened = await Promise.all(rows.map((row) => openRow(channels, row)))
  const claimed = opened.flatMap((row) => row ?? [])
  const [first] = rows
  if (!first || claimed.length === 0) return undefined
  const { chainId, recipient: receiver } = first
  const now = context.now() / 1000n
  const facts = await movementFacts(channels, first, now)
  const { keccak256 } = context
  const authorizer = await openAuthorizer(context)
  const signatures = await signClaim(authorizer, {
    chainId,
    rows: claimed,
    keccak256,
  })
  const value = rows.reduce((sum, row) => sum + row.charged - row.claimed, 0n)
  const sealed = await sealMovement(
    context,
    planClaim(facts, { receiver, rows: claimed, signatures, value }),
  )
  const { order, written } = await writeAgain(context, async (tables) => {
    const found = await tables.channels.find({ ids: rows.map(({ id }) => id) })
    const later = found.map((row) => ({ ...row, due: now + checkAfter }))
    await tables.channels.update(later)
    return {
      order: await insertMovement(context, tables, sealed),
      written: later,
    }
  })
  for (const row of written) book.remember({ ...row, version: row.version + 1 })
  instance.drive().wake({ chainId, account: facts.submitter })
  const attributes = { chainId, orderId: order.id, channels: claimed.length }
  context.observe({ name: 'channels.claim', attributes })
  return order
}

/** Opens the newest voucher of a channel; `undefined` if it does not open. */
async function openRow(
  { context }: ChannelsContext,
  row: ChannelRecord,
): Promise<PlannedRow | undefined> {
  const { id: channelId, voucher, signed, charged } = row
  if (voucher === undefined) return undefined
  const opened = await openSealed(context, voucher, voucherPlace(row))
  if (opened === undefined) return undefined
  return {
    channelId,
    config: configOf(row),
    maxClaimable: signed,
    // Only what was sealed as a signature opens here.
    signature: opened as Hex,
    claimed: charged,
  }
}

/** Parameters of `claim`. */
export type ClaimChannelsParameters = {
  /** @default all channels that owe something */
  channelIds?: readonly Hex[] | undefined
  /** Milliseconds to wait for the transactions. @default 60_000 */
  timeout?: number | undefined
}

/** What became of the claims that were requested. */
export type ClaimReport = {
  /** Number of claims by their outcome. */
  claimed: number
  /** Claims that are on their way: a worker goes on with them. */
  pending: number
  /** Claims that were refused; the channels are tried again later. */
  rejected: number
}

/** Implements `claim` of `Channels`. */
export async function claimChannels(
  channels: ChannelsContext,
  parameters: ClaimChannelsParameters,
): Promise<ClaimReport> {
  checkMembers(parameters, ['channelIds', 'timeout'])
  const { channelIds, timeout = 60_000 } = parameters
  const { context, instance } = channels
  const rows = channelIds
    ? await loadNamed(channels, channelIds)
    : await loadOwing(channels)
  const claims = await requestClaims(channels, rows)
  const results = await Promise.all(
    claims.map((order) =>
      waitForCapture(context, instance.drive(), order, { timeout }),
    ),
  )
  await copyAfterClaims(channels, rows)
  const count = (status: string) =>
    results.filter((result) => result.status === status).length
  const claimed = count('captured')
  const rejected = count('rejected')
  const pending = results.length - claimed - rejected
  return { claimed, pending, rejected }
}

async function loadNamed(
  channels: ChannelsContext,
  channelIds: readonly Hex[],
): Promise<ChannelRecord[]> {
  if (!Array.isArray(channelIds))
    throw new InvalidFieldError('channelIds', channelIds, 'a list of ids')
  const ids = channelIds.map((id, at) => parseBytes32(id, `channelIds[${at}]`))
  return Promise.all(ids.map((id) => loadChannel(channels, id)))
}

/** Most channels that are loaded in one query. */
const mostLoaded = 1000

async function loadOwing({
  context,
}: ChannelsContext): Promise<ChannelRecord[]> {
  const owing: ChannelRecord[] = []
  let after: bigint | undefined
  for (;;) {
    const rows = await context.store.read((tables) =>
      tables.channels.find({
        watched: context.destinations,
        after,
        limit: mostLoaded,
      }),
    )
    owing.push(...rows.filter(({ charged, claimed }) => charged > claimed))
    if (rows.length < mostLoaded) return owing
    after = rows.at(-1)?.position
  }
}

/** Copies what the claims changed, so that the record says it at once. */
async function copyAfterClaims(
  channels: ChannelsContext,
  rows: readonly ChannelRecord[],
): Promise<void> {
  for (const group of groupIds(rows, tokenOf)) {
    const [first] = group
    if (!first) continue
    const ids = group.map(({ id }) => id)
    await endDue(channels, await refreshChannels(channels, first, ids))
  }
}
