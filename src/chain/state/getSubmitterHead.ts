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

/** The newest block, and the account nonce there. */
export type SubmitterHead = {
  head: BlockHead
  /**
   * The account nonce at `latest`: the number of transactions that the account
   * has in blocks.
   */
  count: number
}

/** The fees of the chain, and the balance of the account that pays them. */
export type SendingCosts = {
  /** Balance of the account at `latest`, in wei. */
  balance: bigint
  /**
   * Suggested priority fee in wei per gas; absent on chains without EIP-1559.
   */
  tip: bigint | undefined
  gasPrice: bigint
}

/** The safe block, and the account nonce there. */
export type SubmitterSafe = {
  /**
   * Absent where the node names no safe block, or the chain is too young to
   * have one.
   */
  safe: BlockHead | undefined
  /** The account nonce at the safe block. */
  safeCount: number | undefined
}

/**
 * Gets the newest block and the account nonce. A batching transport sends both
 * in one request. A new block can come between the two answers.
 *
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer, or its answer is malformed.
 */
export async function getSubmitterHead(
  client: Client,
  address: Address,
): Promise<SubmitterHead> {
  const [head, count] = await Promise.all([
    getBlockHead(client, 'latest'),
    getTransactionCount(client, { address, block: 'latest' }),
  ])
  if (!head)
    throw new NodeAnswerError({
      method: 'eth_getBlockByNumber',
      problem: 'has no latest block',
    })
  return { head, count }
}

/**
 * Gets the balance of an account and the fees of its chain, as one request of a
 * batching transport.
 *
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer, or its answer is malformed.
 */
export async function getSendingCosts(
  client: Client,
  address: Address,
): Promise<SendingCosts> {
  const [balance, tip, gasPrice] = await Promise.all([
    getBalance(client, { address, block: 'latest' }),
    getWei(client, 'eth_maxPriorityFeePerGas').catch(() => undefined),
    getWei(client, 'eth_gasPrice'),
  ])
  return { balance, tip, gasPrice }
}

/**
 * Gets the safe block and the account nonce there. A batching transport sends
 * both in one request.
 *
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer, or its answer is malformed.
 */
export async function getSubmitterSafe(
  client: Client,
  address: Address,
  {
    head,
    safe: wanted = 'safe',
  }: {
    head: Pick<BlockHead, 'number'>
    /**
     * Which block counts as safe: a tag, or for nodes without tags the number
     * of blocks below `head`. @default 'safe'
     */
    safe?: 'safe' | 'finalized' | number | undefined
  },
): Promise<SubmitterSafe> {
  const block: BlockSelector =
    typeof wanted === 'string' ? wanted : head.number - BigInt(wanted)
  if (typeof block === 'bigint' && block < 0n)
    return { safe: undefined, safeCount: undefined }
  const [safe, safeCount] = await Promise.all([
    orNone(getBlockHead(client, block)),
    orNone(getTransactionCount(client, { address, block })),
  ])
  return { safe, safeCount }
}

async function getWei(client: Client, method: string): Promise<bigint> {
  return parseQuantity(await requestNode(client, method, []), method)
}
