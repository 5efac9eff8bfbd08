import type { Hex } from 'viem'
import { checkMembers } from '../../core/checkMembers.js'
import { checkTimeout } from '../../core/checkTimeout.js'
import { InvalidFieldError } from '../../core/errors.js'
import { parseBytes32 } from '../../core/fields.js'
import { waitForCapture } from '../../orders/engine.js'
import type { CaptureResult } from '../../orders/index.js'
import { openSealed } from '../../store/openSealed.js'
import type { ChannelRecord, OrderRecord } from '../../store/types.js'
import { voucherPlace } from '../../store/voucherPlace.js'
import { writeAgain } from '../../store/writeAgain.js'
import { openAuthorizer } from '../movements/authorizer.js'
import { type PlannedRow, planClaim } from '../movements/planMovement.js'
import { signClaim } from '../movements/signMovement.js'
import { insertMovement, sealMovement } from '../movements/writeMovement.js'
import { checkAfter, claimTime } from '../record/claimSoon.js'
import { configOf } from '../record/configOf.js'
import { noteMovement } from '../record/noteMovements.js'
import type { ChannelsContext } from './context.js'
import { loadChannel } from './listChannels.js'
import { movementFacts } from './movementFacts.js'
import { findOpenClaims } from './openClaims.js'
import { refreshChannels } from './refreshChannels.js'

/** Most channels that one transaction claims from. */
export const mostRows: number = 100

/**
 * Requests the claims of channels that owe something, by what the chain says
 * now: one transaction for up to a hundred of one receiver and authorizer.
 * Channels whose open claim takes all of it join that one.
 *
 * @param options.byPolicy true to claim only what the policy says.
 * @param options.failed called for each claim that cannot be requested, for
 * example because its key does not open. Then the others follow.
 */
export async function requestClaims(
  channels: ChannelsContext,
  given: readonly ChannelRecord[],
  {
    byPolicy = false,
    failed = (error) => {
      throw error
    },
  }: RequestOptions = {},
): Promise<RequestedClaim[]> {
  const claims: RequestedClaim[] = []
  for (const ids of groupIds(given, channelTokenOf)) {
    const [first] = ids
    if (!first) continue
    const fresh = await refreshChannels(
      channels,
      first,
      ids.map(({ id }) => id),
    )
    const due = await sortDue(channels, fresh, byPolicy)
    const { joined, owed } = await joinOpen(channels, due)
    claims.push(...joined)
    for (const group of groupIds(owed, claimOf))
      for (let from = 0; from < group.length; from += mostRows) {
        const part = group.slice(from, from + mostRows)
        try {
          const claim = await requestClaim(channels, part)
          if (claim) claims.push(claim)
        } catch (error) {
          await failed(error, part)
        }
      }
  }
  return claims
}

type RequestOptions = {
  byPolicy?: boolean | undefined
  /** @default throws the error, and leaves out all later claims */
  failed?:
    | ((error: unknown, rows: readonly ChannelRecord[]) => unknown)
    | undefined
}

export const channelTokenOf = ({ chainId, token }: ChannelRecord): string =>
  `${chainId} ${token}`

/** Only channels with the same of these can share a claim. */
const claimOf = ({ recipient, receiverAuthorizer }: ChannelRecord): string =>
  `${recipient} ${receiverAuthorizer}`

export function groupIds(
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

/** Most base units that can be claimed in all: the balance limits it. */
const claimableOf = ({ charged, balance }: ChannelRecord) =>
  charged < balance ? charged : balance

/**
 * Seconds after which a channel is looked at again whose balance is claimed and
 * does not cover the rest.
 */
const checkUncovered = 3_600n

/** Returns the channels to claim now, and stores when the others are due. */
async function sortDue(
  channels: ChannelsContext,
  rows: readonly ChannelRecord[],
  byPolicy: boolean,
): Promise<ChannelRecord[]> {
  const { context, policy } = channels
  const now = context.now() / 1000n
  const claimed: ChannelRecord[] = []
  for (const row of rows) {
    const isOwed = row.charged > row.claimed
    const time = claimTime(row, now, policy)
    const isRefunding = row.reason === 'refund'
    if (!isOwed)
      await setDue(channels, row, isRefunding ? now + checkAfter : undefined)
    else if (claimableOf(row) <= row.claimed)
      await setDue(channels, row, now + checkUncovered)
    else if (byPolicy && time > now) await setDue(channels, row, time)
    else claimed.push(row)
  }
  return claimed
}

/** Finds the channels whose open claim takes all that they owe. */
async function joinOpen(
  channels: ChannelsContext,
  due: readonly ChannelRecord[],
): Promise<{ joined: RequestedClaim[]; owed: ChannelRecord[] }> {
  if (due.length === 0) return { joined: [], owed: [] }
  const ids = due.map(({ id }) => id)
  const open = await channels.context.store.read((tables) =>
    findOpenClaims(tables, ids),
  )
  const joining = (row: ChannelRecord) => {
    const claim = open.get(row.id)
    return claim && claim.claimed >= claimableOf(row) ? claim.order : undefined
  }
  const owed = due.filter((row) => !joining(row))
  const rest = due.filter((row) => joining(row))
  if (rest.length > 0) await postponeClaims(channels, rest)
  const joined = groupIds(rest, (row) => joining(row)?.id ?? '').flatMap(
    (rows) => {
      const order = rows[0] && joining(rows[0])
      return order ? [{ order, rows, isJoined: true }] : []
    },
  )
  return { joined, owed }
}

/**
 * Makes claims due that must be made at once. Only a process whose clock was
 * ahead stores a later time, and the payer could withdraw before it.
 */
export async function claimUrgent(
  channels: ChannelsContext,
  rows: readonly ChannelRecord[],
): Promise<void> {
  const { context, policy } = channels
  const now = context.now() / 1000n
  for (const row of rows) {
    const isLate = row.due !== undefined && row.due > now + checkAfter
    const isOwed = claimableOf(row) > row.claimed
    if (isLate && isOwed && claimTime(row, now, policy) <= now)
      await setDue(channels, row, now)
  }
}

/** Stores when a channel is due, unless it was changed meanwhile. */
async function setDue(
  { book }: ChannelsContext,
  { id, charged, claimed }: ChannelRecord,
  due: bigint | undefined,
): Promise<void> {
  await book.change(id, (channel) =>
    channel.charged !== charged ||
    channel.claimed !== claimed ||
    channel.due === due
      ? undefined
      : { ...channel, due },
  )
}

/** Has channels looked at again later. */
export async function postponeClaims(
  { context, book }: ChannelsContext,
  rows: readonly ChannelRecord[],
  seconds: bigint = checkAfter,
): Promise<void> {
  const due = context.now() / 1000n + seconds
  const ids = rows.map(({ id }) => id)
  const written = await writeAgain(context, async (tables) => {
    const found = await tables.channels.find({ ids })
    const later = found.map((row) => ({ ...row, due }))
    await tables.channels.update(later)
    return later
  })
  for (const row of written) book.remember({ ...row, version: row.version + 1 })
}

/** A claim on record, and the channels that it claims from. */
export type RequestedClaim = {
  order: OrderRecord
  rows: readonly ChannelRecord[]
  /** True for one that was on record already. */
  isJoined: boolean
}

async function requestClaim(
  channels: ChannelsContext,
  rows: readonly ChannelRecord[],
): Promise<RequestedClaim | undefined> {
  const { context, book, instance } = channels
  const opened = await Promise.all(rows.map((row) => openRow(channels, row)))
  const claimed = opened.flatMap((row) => row ?? [])
  const [first] = rows
  if (!first) return undefined
  if (claimed.length === 0) {
    await postponeClaims(channels, rows)
    return undefined
  }
  const { chainId, recipient: receiver } = first
  const now = context.now() / 1000n
  const facts = await movementFacts(channels, first)
  const { keccak256 } = context
  const authorizer = await openAuthorizer(context)
  const signatures = await signClaim(authorizer, {
    chainId,
    rows: claimed,
    keccak256,
  })
  const value = rows.reduce(
    (sum, row, at) => sum + (opened[at] ? claimableOf(row) - row.claimed : 0n),
    0n,
  )
  const sealed = await sealMovement(
    context,
    planClaim(facts, { receiver, rows: claimed, signatures, value }),
  )
  const claimedIds = claimed.map(({ channelId }) => channelId)
  const { order, written } = await writeAgain(context, async (tables) => {
    const found = await tables.channels.find({ ids: rows.map(({ id }) => id) })
    const later = found.map((row) => ({ ...row, due: now + checkAfter }))
    await tables.channels.update(later)
    await noteMovement(tables, claimedIds, sealed.order.id)
    return {
      order: await insertMovement(context, tables, sealed),
      written: later,
    }
  })
  for (const row of written) book.remember({ ...row, version: row.version + 1 })
  instance.drive().wake({ chainId, account: facts.submitter })
  const attributes = { chainId, orderId: order.id, channels: claimed.length }
  context.observe({ name: 'channels.claim', attributes })
  return { order, rows, isJoined: false }
}

/** Opens the newest voucher of a channel; `undefined` if it does not open. */
async function openRow(
  { context }: ChannelsContext,
  row: ChannelRecord,
): Promise<PlannedRow | undefined> {
  const { id: channelId, voucher, signed } = row
  if (voucher === undefined) return undefined
  const opened = await openSealed(context, voucher, voucherPlace(row))
  if (opened === undefined) return undefined
  return {
    channelId,
    config: configOf(row),
    maxClaimable: signed,
    // Only what was sealed as a signature opens here.
    signature: opened as Hex,
    claimed: claimableOf(row),
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
  checkTimeout(timeout)
  const rows = channelIds
    ? await loadNamed(channels, channelIds)
    : await loadOwing(channels)
  const tried = await Promise.allSettled(
    groupIds(rows, channelTokenOf).map((own) =>
      claimOfToken(channels, own, timeout),
    ),
  )
  const ended = tried.flatMap((one) =>
    one.status === 'fulfilled' ? one.value : [one],
  )
  const failed = ended.find((one) => one.status === 'rejected')
  if (failed) throw failed.reason
  const count = (status: string) =>
    ended.filter(
      (one) => one.status === 'fulfilled' && one.value.status === status,
    ).length
  const claimed = count('captured')
  const rejected = count('rejected')
  const pending = ended.length - claimed - rejected
  return { claimed, pending, rejected }
}

/**
 * Claims the channels of one token, and copies what that changed. What fails for
 * one recipient or authorizer does not hold up the others.
 */
async function claimOfToken(
  channels: ChannelsContext,
  rows: readonly ChannelRecord[],
  timeout: number,
): Promise<PromiseSettledResult<CaptureResult>[]> {
  const { context, instance } = channels
  const until = performance.now() + timeout
  const ended: PromiseSettledResult<CaptureResult>[] = []
  const failed = (reason: unknown) => ended.push({ status: 'rejected', reason })
  let left = rows
  while (left.length > 0) {
    const claims = await requestClaims(channels, left, { failed })
    const results = await Promise.allSettled(
      claims.map(({ order }) => {
        const timeout = Math.max(0, until - performance.now())
        return waitForCapture(context, instance.drive(), order, { timeout })
      }),
    )
    ended.push(...results)
    // What an earlier claim left, or was refused, is claimed after it.
    left = claims.flatMap(({ rows, isJoined }, at) =>
      isJoined && isDecided(results[at]) ? rows : [],
    )
  }
  const [first] = rows
  const ids = rows.map(({ id }) => id)
  if (first) await refreshChannels(channels, first, ids)
  return ended
}

function isDecided(
  result: PromiseSettledResult<CaptureResult> | undefined,
): boolean {
  if (result?.status !== 'fulfilled') return false
  const { status } = result.value
  return status === 'captured' || status === 'rejected'
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
