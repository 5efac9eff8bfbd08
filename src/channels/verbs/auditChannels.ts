import type { Address, Client, Hex } from 'viem'
import { streamLogs } from '../../chain/logs/streamLogs.js'
import { NodeAnswerError } from '../../chain/rpc/errors.js'
import { getHeads } from '../../chain/state/getHeads.js'
import { CountersignError } from '../../core/CountersignError.js'
import { checkMembers } from '../../core/checkMembers.js'
import { parseBlockNumber } from '../../core/parseBlockNumber.js'
import { clientOf, findFirstBlock } from '../../orders/engine.js'
import type { ChannelRecord, Destination } from '../../store/types.js'
import { channelContract } from '../contract/channelDomain.js'
import {
  channelTopics,
  decodeChannelLog,
} from '../contract/decodeChannelLog.js'
import { type ChainChannel, getChannels } from '../contract/getChannel.js'
import { getSettled } from '../contract/getSettled.js'
import { isAhead } from '../record/aheadOfChain.js'
import type { ChannelsContext } from './context.js'

/** Parameters of `audit` of `Channels`. */
export type AuditChannelsParameters = {
  /**
   * First block to search for channels that are not on record.
   * @default the block of the oldest order or stored payment
   */
  fromBlock?: bigint | undefined
}

/** A value of a channel that is not the same on chain and on record. */
export type ChannelDifference = {
  channelId: Hex
  /**
   * `balance`, `claimed`, `withdrawing`: base units. `withdrawableAt`: Unix
   * seconds; 0 without a withdrawal. `refundNonce`: nonce of the next refund.
   */
  field:
    | 'balance'
    | 'claimed'
    | 'withdrawing'
    | 'withdrawableAt'
    | 'refundNonce'
  onChain: bigint
  onRecord: bigint
}

/** A channel that pays the recipient and is not on record. */
export type UnknownChannel = {
  channelId: Hex
  payer: Address
  /** What the contract says of it, in base units. */
  balance: bigint
  claimed: bigint
}

/** The channels of one destination, compared with the contract. */
export type ChannelsAudit = Destination & {
  /** The block whose state was compared. */
  blockNumber: bigint
  /** Channels on record that were compared. */
  channels: number
  differences: readonly ChannelDifference[]
  /**
   * Claimed from the channels on record, in base units, as the contract counts.
   */
  claimed: bigint
  /**
   * Claimed from channels that are not on record, in base units. Anybody can
   * open and claim such channels.
   */
  claimedElsewhere: bigint
  /**
   * Claimed and not paid to the recipient yet, in base units. The next claim
   * pays it.
   */
  unsettled: bigint
  /** Channels of the recipient that are not on record, at most a hundred. */
  unknown: readonly UnknownChannel[]
  /**
   * First block that was searched for unknown channels. Absent if the node has
   * no logs: then `unknown` is empty.
   */
  searchedFrom: bigint | undefined
}

/** Result of `audit` of `Channels`. */
export type ChannelsAuditReport = {
  /** True when there are no `differences`. `unknown` channels do not count. */
  ok: boolean
  destinations: readonly ChannelsAudit[]
}

/** Channels that are loaded and asked for at once. */
const pageSize = 100

/** Most unknown channels that are named. */
const mostUnknown = 100

/**
 * Most unknown channels that are asked for. Anybody can open channels and empty
 * them again, and those must not hide one with money.
 */
const mostSearched = 10_000

/** Implements `audit` of `Channels`. */
export async function auditChannels(
  channels: ChannelsContext,
  parameters: AuditChannelsParameters,
): Promise<ChannelsAuditReport> {
  checkMembers(parameters, ['fromBlock'])
  const fromBlock = parseBlockNumber(parameters.fromBlock, 'fromBlock')
  const destinations: ChannelsAudit[] = []
  for (const destination of channels.context.destinations)
    destinations.push(await auditDestination(channels, destination, fromBlock))
  const ok = destinations.every(({ differences }) => differences.length === 0)
  return { ok, destinations }
}

async function auditDestination(
  channels: ChannelsContext,
  destination: Destination,
  fromBlock: bigint | undefined,
): Promise<ChannelsAudit> {
  const { context } = channels
  const { token, recipient: receiver } = destination
  const client = clientOf(context, destination)
  const { latest } = await getHeads(client, context.policy)
  const { number: blockNumber } = latest
  const found: Compared = { differences: [], claimed: 0n, known: new Set() }
  let before: bigint | undefined
  for (;;) {
    const rows = await context.store.read((tables) =>
      tables.channels.find({ listed: [destination], before, limit: pageSize }),
    )
    await comparePage(channels, client, { rows, blockNumber, found })
    before = rows.at(-1)?.position
    if (rows.length < pageSize) break
  }
  const settled = await getSettled(client, {
    receiver,
    token,
    blockNumber,
  }).catch((error: unknown) => {
    // A chain without the contract has no channels.
    if (found.known.size === 0 && error instanceof NodeAnswerError)
      return { claimed: 0n, settled: 0n }
    throw error
  })
  const first =
    fromBlock ?? (await findFirstBlock(context, client, destination, latest))
  const searched = await findUnknown(channels, client, destination, {
    fromBlock: first,
    toBlock: blockNumber,
    known: found.known,
  })
  return {
    ...destination,
    blockNumber,
    channels: found.known.size,
    differences: found.differences,
    claimed: found.claimed,
    claimedElsewhere: settled.claimed - found.claimed,
    unsettled: settled.claimed - settled.settled,
    unknown: searched ?? [],
    searchedFrom: searched && first,
  }
}

type Compared = {
  differences: ChannelDifference[]
  claimed: bigint
  known: Set<Hex>
}

async function comparePage(
  { context }: ChannelsContext,
  client: Client,
  {
    rows,
    blockNumber,
    found,
  }: { rows: readonly ChannelRecord[]; blockNumber: bigint; found: Compared },
): Promise<void> {
  if (rows.length === 0) return
  const channelIds = rows.map(({ id }) => id)
  const states = await getChannels(client, { channelIds, blockNumber })
  const differing: Hex[] = []
  for (const [at, row] of rows.entries()) {
    const state = states[at]
    if (!state) continue
    found.known.add(row.id)
    found.claimed += state.claimed
    if (compareChannel(row, state).length > 0) differing.push(row.id)
  }
  if (differing.length === 0) return
  // Compares again: the chain may have moved on since the record was read. The
  // record comes first, so that it is never ahead of the chain.
  const again = await context.store.read((tables) =>
    tables.channels.find({ ids: differing }),
  )
  const newest = await getChannels(client, { channelIds: differing })
  for (const row of again) {
    const state = newest[differing.indexOf(row.id)]
    if (state) found.differences.push(...compareChannel(row, state))
  }
}

function compareChannel(
  row: ChannelRecord,
  { balance, claimed, withdrawal, refundNonce }: ChainChannel,
): ChannelDifference[] {
  const { id: channelId, withdrawDelay } = row
  const withdrawableAt = withdrawal
    ? withdrawal.initiatedAt + BigInt(withdrawDelay)
    : 0n
  const pairs = [
    // A pre-confirmed deposit counts before a block has it.
    ['balance', isAhead(row, balance) ? row.balance : balance, row.balance],
    ['claimed', claimed, row.claimed],
    ['withdrawing', withdrawal?.value ?? 0n, row.withdrawing],
    ['withdrawableAt', withdrawableAt, row.withdrawableAt ?? 0n],
    ['refundNonce', refundNonce, row.refundNonce],
  ] as const
  return pairs.flatMap(([field, onChain, onRecord]) =>
    onChain === onRecord ? [] : [{ channelId, field, onChain, onRecord }],
  )
}

/**
 * Finds channels of a recipient that are not on record, by the logs in which
 * the contract names the terms of each new channel. Returns `undefined` if the
 * node has no such logs.
 */
async function findUnknown(
  { context }: ChannelsContext,
  client: Client,
  { token, recipient }: Destination,
  {
    fromBlock,
    toBlock,
    known,
  }: { fromBlock: bigint; toBlock: bigint; known: ReadonlySet<Hex> },
): Promise<UnknownChannel[] | undefined> {
  const payers = new Map<Hex, Address>()
  try {
    const chunks = streamLogs(client, {
      address: channelContract,
      topics: [channelTopics.created],
      fromBlock,
      toBlock,
    })
    for await (const { logs } of chunks)
      for (const event of logs.map(decodeChannelLog)) {
        if (event?.name !== 'created' || known.has(event.channelId)) continue
        const { config } = event
        const isOurs = config.receiver === recipient && config.token === token
        if (isOurs && payers.size < mostSearched)
          payers.set(event.channelId, config.payer)
      }
  } catch (error) {
    if (error instanceof CountersignError) return undefined
    throw error
  }
  const ids = [...payers.keys()]
  const unknown: UnknownChannel[] = []
  for (let from = 0; from < ids.length; from += pageSize) {
    if (unknown.length >= mostUnknown) break
    const page = ids.slice(from, from + pageSize)
    // Some may have been opened since the record was read.
    const opened = await context.store.read((tables) =>
      tables.channels.find({ ids: page }),
    )
    const onRecord = new Set(opened.map(({ id }) => id))
    const channelIds = page.filter((id) => !onRecord.has(id))
    const states = await getChannels(client, {
      channelIds,
      blockNumber: toBlock,
    })
    for (const [at, channelId] of channelIds.entries()) {
      const { balance = 0n, claimed = 0n } = states[at] ?? {}
      const payer = payers.get(channelId)
      // Nothing was claimed, and nothing can be.
      const isEmpty = balance === 0n && claimed === 0n
      if (payer && !isEmpty)
        unknown.push({ channelId, payer, balance, claimed })
    }
  }
  return unknown.slice(0, mostUnknown)
}
