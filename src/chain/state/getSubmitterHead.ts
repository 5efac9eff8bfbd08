import type { Address, Client } from 'viem'
import { NodeAnswerError } from '../rpc/errors.js'
import { orNone } from '../rpc/orNone.js'
import {
  type BlockHead,
  type BlockSelector,
  getBlockHead,
  parseQuantity,
  requestNode,
} from '../rpc/requestNode.js'
import { getBalance } from './getBalance.js'
import { getTransactionCount } from './getTransactionCount.js'

export type GetSubmitterHeadParameters = {
  account: Address
  /**
   * Which block counts as safe: a tag, or for nodes without tags the number of
   * blocks below the head, which needs a second request. @default 'safe'
   */
  safe?: 'safe' | 'finalized' | number | undefined
}

/** State of a submitter and of its chain. */
export type SubmitterHead = {
  head: BlockHead
  /** Absent where the node has no such block, or the chain is too young. */
  safe: BlockHead | undefined
  finalized: BlockHead | undefined
  /** The account nonce at `latest`. */
  count: number
  /**
   * The account nonce at `pending`: some nodes count their mempool, others
   * pre-confirmed transactions.
   */
  pendingCount: number
  /** The account nonce at the safe block. */
  safeCount: number | undefined
  /** Wei, at `latest`. */
  balance: bigint
  /** Wei per gas; absent on chains without EIP-1559. */
  tip: bigint | undefined
  gasPrice: bigint
}

/**
 * Gets the state of a submitter and the heads of its chain. A batching
 * transport sends all as one request.
 *
 * The answers are independent: a new block can come between two.
 *
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer, or its answer is malformed.
 */
export async function getSubmitterHead(
  client: Client,
  { account: address, safe: wanted = 'safe' }: GetSubmitterHeadParameters,
): Promise<SubmitterHead> {
  const countAt = (block: BlockSelector) =>
    getTransactionCount(client, { address, block })
  const headAt = (block: BlockSelector) => orNone(getBlockHead(client, block))
  const tag = typeof wanted === 'string' ? wanted : undefined
  const [head, safe, finalized, safeCount, ...account] = await Promise.all([
    getBlockHead(client, 'latest'),
    headAt('safe'),
    headAt('finalized'),
    tag && orNone(countAt(tag)),
    countAt('latest'),
    countAt('pending'),
    getBalance(client, { address, block: 'latest' }),
    getWei(client, 'eth_maxPriorityFeePerGas').catch(() => undefined),
    getWei(client, 'eth_gasPrice'),
  ])
  if (!head)
    throw new NodeAnswerError({
      method: 'eth_getBlockByNumber',
      problem: 'has no latest block',
    })
  const [count, pendingCount, balance, tip, gasPrice] = account
  const read = { head, finalized, count, pendingCount, balance, tip, gasPrice }
  if (typeof wanted === 'string')
    return { ...read, safe: wanted === 'safe' ? safe : finalized, safeCount }

  const number = head.number - BigInt(wanted)
  if (number < 0n) return { ...read, safe: undefined, safeCount: undefined }
  const [deep, deepCount] = await Promise.all([
    headAt(number),
    orNone(countAt(number)),
  ])
  return { ...read, safe: deep, safeCount: deepCount }
}

async function getWei(client: Client, method: string): Promise<bigint> {
  return parseQuantity(await requestNode(client, method, []), method)
}
