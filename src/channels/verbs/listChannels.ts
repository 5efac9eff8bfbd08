import type { Address, Hex } from 'viem'
import { checkMembers } from '../../core/checkMembers.js'
import { parseBytes32 } from '../../core/fields.js'
import { parseCheckedAddress } from '../../core/parseCheckedAddress.js'
import { parseLimit, parsePosition } from '../../core/parsePage.js'
import { isInDestinations } from '../../store/isInDestinations.js'
import type { ChannelRecord } from '../../store/types.js'
import type { ChannelsContext } from './context.js'
import { ChannelNotFoundError } from './errors.js'
import { type Channel, showChannel } from './showChannel.js'

/** Names a channel by its id, 32 bytes in hex. */
export type ChannelParameters = { channelId: Hex }

export function parseChannelId(parameters: ChannelParameters): Hex {
  checkMembers(parameters, ['channelId'])
  return parseBytes32(parameters.channelId, 'channelId')
}

/**
 * Loads a channel of this shop from the store.
 *
 * @throws {@link ChannelNotFoundError}
 */
export async function loadChannel(
  { context, book }: ChannelsContext,
  channelId: Hex,
): Promise<ChannelRecord> {
  const found = await book.reload(channelId)
  if (found && isInDestinations(found, context.destinations)) return found
  throw new ChannelNotFoundError({ channelId })
}

/** Implements `get` of `Channels`. */
export async function getChannelOnRecord(
  channels: ChannelsContext,
  parameters: ChannelParameters,
): Promise<Channel> {
  return showChannel(await loadChannel(channels, parseChannelId(parameters)))
}

/** Which channels `list` returns. */
export type ListChannelsParameters = {
  /** Returns only channels of this payer. */
  payer?: Address | undefined
  /** The `cursor` of the previous page. Absent for the first page. */
  before?: bigint | undefined
  /** Most channels in a page, up to 200. @default 50 */
  limit?: number | undefined
}

/** A page of channels. */
export type ListedChannels = {
  channels: readonly Channel[]
  /** Pass it as `before` for the next page; absent on the last page. */
  cursor: bigint | undefined
}

const limits = { usual: 50, most: 200 }

/** Implements `list` of `Channels`: the newest first. */
export async function listChannels(
  { context }: ChannelsContext,
  parameters: ListChannelsParameters,
): Promise<ListedChannels> {
  checkMembers(parameters, ['payer', 'before', 'limit'])
  const limit = parseLimit(parameters.limit, limits)
  const before = parsePosition(parameters.before, 'before')
  const payer =
    parameters.payer === undefined
      ? undefined
      : parseCheckedAddress(parameters.payer, 'payer')
  const { destinations: listed } = context
  const rows = await context.store.read(({ channels }) =>
    channels.find({ listed, payer, before, limit }),
  )
  return {
    channels: rows.map(showChannel),
    cursor: rows.length < limit ? undefined : rows.at(-1)?.position,
  }
}
