import { type BlockTag, type Client, decodeAbiParameters, type Hex } from 'viem'
import { parseBlock } from '../../chain/logs/encodeLogFilter.js'
import { NodeAnswerError } from '../../chain/rpc/errors.js'
import type { BlockSelector } from '../../chain/rpc/requestNode.js'
import { runCalls } from '../../chain/state/runCalls.js'
import { runCreated } from '../../chain/state/runCreated.js'
import type { CallAnswer } from '../../chain/state/types.js'
import { checkMembers } from '../../core/checkMembers.js'
import { InvalidFieldError, shown } from '../../core/errors.js'
import { parseBytes32 } from '../../core/fields.js'
import { neutralCaller } from '../../payments/verify/rehearse.js'
import { multicallCall } from './channelCalls.js'
import { channelContract } from './channelDomain.js'

/** The block whose state to read: give at most one. */
export type ChannelBlock = {
  /** @default 'latest' */
  blockTag?: BlockTag | undefined
  blockNumber?: bigint | undefined
}

/** The block whose state was read. */
export type ChannelReadAt = {
  /**
   * Block number as contracts see it: on Arbitrum, that of an Ethereum block.
   */
  blockNumber: bigint
  /** Time of that block, Unix seconds. */
  blockTime: bigint
}

/** State of a channel in the contract at one block. All 0 if it is unknown. */
export type ChainChannel = {
  /** Deposits minus refunds and withdrawals, in base units. */
  balance: bigint
  /** Total that the receiver has claimed, in base units. */
  claimed: bigint
  /**
   * The payer's pending withdrawal: its base units, and the Unix seconds of its
   * start. It can end `withdrawDelay` seconds later.
   */
  withdrawal: { value: bigint; initiatedAt: bigint } | undefined
  /** Nonce of the next refund. */
  refundNonce: bigint
  at: ChannelReadAt
}

/** Channel and block of {@link getChannel}. */
export type GetChannelParameters = ChannelBlock & { channelId: Hex }

/**
 * Reads a channel from the contract, in one request.
 *
 * @throws {@link InvalidFieldError} when channel id or block are malformed.
 * @throws {@link NodeError} when the node does not answer.
 * @throws {@link NodeAnswerError} when its answer is malformed, or the chain has
 * no channel contract.
 *
 * @example
 * ```ts
 * import { getChannel } from 'countersign/channels'
 * import { createPublicClient, http } from 'viem'
 * import { base } from 'viem/chains'
 *
 * const client = createPublicClient({ chain: base, transport: http() })
 *
 * export async function leftToClaim(channelId: `0x${string}`) {
 *   const { balance, claimed } = await getChannel(client, { channelId })
 *   return balance - claimed
 * }
 * ```
 */
export async function getChannel(
  client: Client,
  parameters: GetChannelParameters,
): Promise<ChainChannel> {
  checkMembers(parameters, ['channelId', 'blockTag', 'blockNumber'])
  const given: GetChannelParameters = Object(parameters)
  const channelId = parseBytes32(given.channelId, 'channelId')
  const [channel] = await readChannels(
    client,
    [channelId],
    parseChannelBlock(given),
  )
  return channel as ChainChannel
}

/** Channels and block of {@link getChannels}. */
export type GetChannelsParameters = ChannelBlock & {
  channelIds: readonly Hex[]
}

/** Most channels in one request, so that each kind of node answers it. */
const channelsAtOnce = 50

/**
 * Reads many channels from the contract, one request for each 50. Returns them
 * in the sequence of `channelIds`.
 *
 * @throws {@link InvalidFieldError} when a channel id or the block is malformed.
 * @throws {@link NodeError} when the node does not answer.
 * @throws {@link NodeAnswerError} when its answer is malformed, or the chain has
 * no channel contract.
 *
 * @example
 * ```ts
 * import { getChannels } from 'countersign/channels'
 * import { createPublicClient, http } from 'viem'
 * import { base } from 'viem/chains'
 *
 * const client = createPublicClient({ chain: base, transport: http() })
 *
 * export async function isAnyWithdrawing(channelIds: readonly `0x${string}`[]) {
 *   const channels = await getChannels(client, { channelIds })
 *   return channels.some(({ withdrawal }) => withdrawal)
 * }
 * ```
 */
export async function getChannels(
  client: Client,
  parameters: GetChannelsParameters,
): Promise<ChainChannel[]> {
  checkMembers(parameters, ['channelIds', 'blockTag', 'blockNumber'])
  const given: GetChannelsParameters = Object(parameters)
  if (!Array.isArray(given.channelIds))
    throw new InvalidFieldError(
      'channelIds',
      shown(given.channelIds),
      'a list of channel ids',
    )
  const ids = given.channelIds.map((id, index) =>
    parseBytes32(id, `channelIds[${index}]`),
  )
  const block = parseChannelBlock(given)
  const pieces: Hex[][] = []
  for (let at = 0; at < ids.length; at += channelsAtOnce)
    pieces.push(ids.slice(at, at + channelsAtOnce))
  const read = pieces.map((piece) => readChannels(client, piece, block))
  return (await Promise.all(read)).flat()
}

/** Parses the block of a read. */
export function parseChannelBlock({
  blockTag,
  blockNumber,
}: ChannelBlock): BlockSelector {
  if (blockNumber === undefined) return parseBlock(blockTag ?? 'latest')
  if (blockTag !== undefined)
    throw new InvalidFieldError(
      'blockTag',
      shown(blockTag),
      'left out with blockNumber',
    )
  if (typeof blockNumber === 'bigint' && blockNumber >= 0n) return blockNumber
  throw new InvalidFieldError(
    'blockNumber',
    shown(blockNumber),
    'a bigint, at least 0',
  )
}

/** Selectors of the views of one channel, and how many words each returns. */
const views = [
  ['7a7ebd7b', 2],
  ['b7f06ebe', 2],
  ['f0dc792e', 1],
] as const

/** Most gas that the views of one channel may use: they read three slots. */
const channelGas = 100_000

/** Asks the contract's own `multicall`, so that the answer is small. */
async function readChannels(
  client: Client,
  ids: readonly Hex[],
  block: BlockSelector,
): Promise<ChainChannel[]> {
  const calls = ids.flatMap((id) =>
    views.map(([selector]) => ({
      to: channelContract,
      data: `0x${selector}${id.slice(2)}` as const,
    })),
  )
  const { head, calls: answers } = await runCalls(client, {
    from: neutralCaller,
    calls: {
      views: {
        target: channelContract,
        data: multicallCall({ calls }).data.slice(2),
        gas: channelGas * ids.length,
      },
    },
    block,
    fallback: runCreated,
  })
  const results = decodeResults(answers.views)
  const at = { blockNumber: head.number, blockTime: head.timestamp }
  return ids.map((_, index) => {
    const [amounts, withdrawal, nonce] = views.map(([, words], view) =>
      readWords(results[index * views.length + view], words),
    )
    const [balance = 0n, claimed = 0n] = amounts ?? []
    const [value = 0n, initiatedAt = 0n] = withdrawal ?? []
    return {
      balance,
      claimed,
      withdrawal: initiatedAt ? { value, initiatedAt } : undefined,
      refundNonce: nonce?.[0] ?? 0n,
      at,
    }
  })
}

function decodeResults({ ok, data }: CallAnswer): readonly Hex[] {
  if (!ok) throw foreignAnswer()
  try {
    return decodeAbiParameters([{ type: 'bytes[]' }], data)[0]
  } catch {
    throw foreignAnswer()
  }
}

/**
 * Reads the words of an answer. Never takes a missing word for zero.
 *
 * @throws {@link NodeAnswerError} when the answer has another length.
 */
export function readWords(data: Hex | undefined, count: number): bigint[] {
  if (data?.length !== 2 + 64 * count) throw foreignAnswer()
  return Array.from({ length: count }, (_, index) =>
    BigInt(`0x${data.slice(2 + 64 * index, 66 + 64 * index)}`),
  )
}

function foreignAnswer(): NodeAnswerError {
  return new NodeAnswerError({
    method: 'eth_call',
    problem: 'does not come from the channel contract',
  })
}
