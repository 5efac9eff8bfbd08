import type { Client, Hash, Hex } from 'viem'
import { getLogs } from '../../chain/logs/getLogs.js'
import type { ReadLog } from '../../chain/logs/types.js'
import { askInChunks } from '../../chain/rpc/askInChunks.js'
import { NodeAnswerError } from '../../chain/rpc/errors.js'
import { getBlockHead, requestNode } from '../../chain/rpc/requestNode.js'
import { findBlockAt } from '../../chain/state/findBlockAt.js'
import { getPaymentOutcome } from '../../chain/state/getPaymentOutcome.js'
import { CountersignError } from '../../core/CountersignError.js'
import { refundWithSignatureCall } from '../contract/channelCalls.js'
import { channelContract } from '../contract/channelDomain.js'
import {
  channelTopics,
  decodeChannelLog,
} from '../contract/decodeChannelLog.js'
import { getChannels } from '../contract/getChannel.js'
import type { ChannelMovement, MovementOf } from './movementTerms.js'
import { isClaimOf } from './proveMovement.js'

type Range = {
  /** Unix seconds. Earlier blocks are not searched. */
  since: bigint
  /** Last block of the search. */
  toBlock: bigint
}

/**
 * Finds the transaction that made a movement. For a deposit, also finds one that
 * used up its authorization without depositing. Any account may have sent it.
 *
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer, or its blocks changed meanwhile.
 */
export async function findMovement(
  client: Client,
  payment: ChannelMovement,
  range: Range,
): Promise<Hash | undefined> {
  switch (payment.movement.action) {
    case 'deposit':
      return findDeposit(client, payment as MovementOf<'deposit'>, range)
    case 'claim':
      return findClaim(client, payment as MovementOf<'claim'>, range)
    case 'refund':
      return findRefund(client, payment as MovementOf<'refund'>, range)
  }
}

async function findDeposit(
  client: Client,
  { primaryType, domain, message }: MovementOf<'deposit'>,
  { since, toBlock: block }: Range,
): Promise<Hash | undefined> {
  const payment = { primaryType, domain, message }
  const outcome = await getPaymentOutcome(client, { payment, block, since })
  switch (outcome.status) {
    case 'captured':
      return outcome.proof.transactionHash
    case 'canceled':
    case 'consumed':
      return outcome.transactionHash
    case 'unknown':
      throw new NodeAnswerError({
        method: 'eth_getLogs',
        problem: 'lacks the transaction that used the nonce of a deposit',
      })
    default:
      return undefined
  }
}

/**
 * Finds one transaction that brought each channel of a claim to its total. One
 * that did so for some of them may be of another claim.
 */
async function findClaim(
  client: Client,
  { movement: { rows } }: MovementOf<'claim'>,
  range: Range,
): Promise<Hash | undefined> {
  const ids = rows.map(({ channelId }) => channelId)
  if (ids.length === 0) return undefined
  const channels = await readIfKept(client, ids, range)
  const isOpen = channels?.some(
    ({ claimed }, at) => claimed < (rows[at]?.claimed ?? 0n),
  )
  if (isOpen) return undefined
  const logs = await getChannelLogs(client, 'claimed', ids, range)
  const hashes = [...new Set(logs.map((log) => log.transactionHash))]
  return hashes.find((hash) => {
    const own = logs
      .filter((log) => log.transactionHash === hash)
      .flatMap((log) => decodeChannelLog(log) ?? [])
    return rows.every((row) =>
      own.some((event) => event.name === 'claimed' && isClaimOf(event, row)),
    )
  })
}

/**
 * Finds the transaction with the call of this refund, by channel, amount and
 * refund nonce: the event does not name the nonce.
 */
async function findRefund(
  client: Client,
  { movement, message }: MovementOf<'refund'>,
  range: Range,
): Promise<Hash | undefined> {
  const { channelId, config, refundNonce: nonce } = movement
  const [channel] = (await readIfKept(client, [channelId], range)) ?? []
  if (channel && channel.refundNonce <= nonce) return undefined
  const logs = await getChannelLogs(client, 'refunded', [channelId], range)
  const hashes = [...new Set(logs.map((log) => log.transactionHash))]
  const inputs = await askInChunks(hashes, (hash) => getInput(client, hash))
  const { value } = message
  const call = refundWithSignatureCall({
    config,
    value,
    nonce,
    signature: anySignature(),
  })
  // Selector, terms, amount and nonce stand before the signature.
  const own = call.data.slice(2, 2 + 8 + 9 * 64)
  return hashes.find((_, at) => inputs[at]?.includes(own))
}

/** A signature whose form is valid. It is never sent. */
const anySignature = (): Hex => `0x${'1'.repeat(128)}1b`

/**
 * Reads channels at the last block of a search, which saves the search if they
 * show that there is nothing to find. Returns `undefined` if the node does not
 * answer, for example because it no longer has the state of that block.
 */
async function readIfKept(
  client: Client,
  channelIds: readonly Hex[],
  { toBlock: blockNumber }: Range,
): Promise<Awaited<ReturnType<typeof getChannels>> | undefined> {
  try {
    return await getChannels(client, { channelIds, blockNumber })
  } catch (error) {
    if (error instanceof CountersignError) return undefined
    throw error
  }
}

async function getChannelLogs(
  client: Client,
  name: 'claimed' | 'refunded',
  channelIds: readonly Hex[],
  { since, toBlock }: Range,
): Promise<readonly ReadLog[]> {
  const head = await getBlockHead(client, toBlock)
  if (!head)
    throw new NodeAnswerError({
      method: 'eth_getBlockByNumber',
      problem: `has no block ${toBlock}`,
    })
  const fromBlock = await findBlockAt(client, since, head)
  if (fromBlock > toBlock) return []
  return getLogs(client, {
    address: channelContract,
    topics: [channelTopics[name], [...channelIds]],
    fromBlock,
    toBlock,
    // Asks for all blocks in one request, because a worker waits for the answer.
    maxBlockRange: toBlock - fromBlock + 1n,
  })
}

async function getInput(client: Client, hash: Hash): Promise<string> {
  const method = 'eth_getTransactionByHash'
  const { input } = Object(await requestNode(client, method, [hash]))
  if (typeof input === 'string') return input.toLowerCase()
  throw new NodeAnswerError({ method, problem: 'has no input' })
}
