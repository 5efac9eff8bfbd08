import type { BlockTag, Client, Hash, Hex } from 'viem'
import { checkMembers } from '../../core/checkMembers.js'
import { parseBlockSelector } from '../logs/encodeLogFilter.js'
import { namesBlock, standsInBlock } from '../logs/standsInBlock.js'
import { parseFrom } from '../rpc/endpointHost.js'
import {
  BlockReceiptsForbiddenError,
  NodeAnswerError,
  NodeError,
} from '../rpc/errors.js'
import {
  encodeBlock,
  parseQuantity,
  requestNode,
  tryRequest,
} from '../rpc/requestNode.js'
import { parseRpcReceipt, type ReadReceipt } from './parseRpcReceipt.js'

/** Block and options of {@link getBlockReceipts}. */
export type GetBlockReceiptsParameters = {
  /** The block: a number, its hex, or a tag. */
  block: bigint | Hex | BlockTag
  /**
   * What to do if the endpoint forbids `eth_getBlockReceipts`: throw, or
   * request the receipt of each transaction.
   * @default 'none'
   */
  fallback?: 'none' | 'perTransaction' | undefined
}

/** The receipts of a block, and the block they belong to. */
export type BlockReceipts = {
  /**
   * With `pending`, it can be the newest complete block, because many nodes
   * have no pending one.
   */
  blockNumber: bigint
  /** Absent while the block is only pre-confirmed. */
  blockHash: Hash | undefined
  receipts: readonly ReadReceipt[]
}

const method = 'eth_getBlockReceipts'

/** The transports whose endpoint forbids `eth_getBlockReceipts`. */
const forbidding = /* @__PURE__ */ new WeakSet<object>()

/**
 * Reads all receipts of a block.
 *
 * Public endpoints often forbid the method (HTTP 403). Then you get a typed
 * error, or with `fallback: 'perTransaction'` the receipts one by one in a
 * batch. The client remembers this and does not try the method again.
 *
 * If a node has no receipts of `pending`, you get those of `latest`.
 *
 * @throws {@link InvalidFieldError} before anything is sent, when the block is
 * malformed.
 * @throws {@link BlockReceiptsForbiddenError} when the endpoint forbids the
 * method.
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer, has no such block, or its answer is malformed.
 *
 * @example
 * ```ts
 * import { createReadClient } from 'countersign/reads'
 *
 * const client = createReadClient({ url: 'http://127.0.0.1:8545' })
 * const { receipts } = await client.getBlockReceipts({
 *   block: 'latest',
 *   fallback: 'perTransaction',
 * })
 * ```
 */
export async function getBlockReceipts(
  client: Client,
  parameters: GetBlockReceiptsParameters,
): Promise<BlockReceipts> {
  checkMembers(parameters, ['block', 'fallback'])
  const { fallback, ...given } = Object(parameters)
  const block = encodeBlock(parseBlockSelector(given.block))
  const endpoint: object = client.transport ?? client
  if (!forbidding.has(endpoint)) {
    const { result, failure } = await tryRequest(client, method, [block], {
      retryCount: 0,
    })
    if (!failure) return parseAnswer(client, block, result)
    const error = new NodeError({ method, failure })
    if (error.retryable) throw error
    const isOfBlock = lacksReceipts.test(failure.words)
    if (error.kind === 'unsupported' && !isOfBlock) forbidding.add(endpoint)
    else if (block === 'pending')
      return getBlockReceipts(client, { block: 'latest', fallback })
    else if (fallback !== 'perTransaction') throw error
  }
  if (fallback !== 'perTransaction') throw new BlockReceiptsForbiddenError()
  return getSingly(client, block)
}

/**
 * Error texts of Geth and Bor if they lack the receipts of one block. The
 * endpoint does serve the method then.
 */
const lacksReceipts = /receipts length mismatch|pending receipts/i

async function parseAnswer(
  client: Client,
  block: string,
  answer: unknown,
): Promise<BlockReceipts> {
  // Ordinary nodes have no receipts of pending transactions. Return those of
  // the newest block.
  const isPending = block === 'pending'
  if (answer === null && isPending)
    return getBlockReceipts(client, { block: 'latest' })
  const receipts = parseFrom(client, () => {
    if (answer === null) throw refuse(`has no ${block} block`)
    if (!Array.isArray(answer)) throw refuse('is not a list')
    return checkPlaces(
      checkBlock(
        answer.map((one) => parseRpcReceipt(one, method)),
        block,
      ),
    )
  })
  const found = describe(receipts)
  if (!found) return getEmpty(client, block)
  return isPending ? checkSealed(client, found) : found
}

/**
 * Checks whether pending receipts belong to a completed block. Their block hash
 * does not show it, because Geth invents a hash for the pending block.
 */
async function checkSealed(
  client: Client,
  found: BlockReceipts,
): Promise<BlockReceipts> {
  const { blockNumber, blockHash, receipts } = found
  if (blockHash === undefined) return found
  const { head } = await getTransactions(client, 'latest')
  const newest = { number: head.blockNumber, hash: head.blockHash }
  if (blockNumber === newest.number && standsInBlock(found, newest))
    return found
  if (blockNumber <= newest.number)
    return getBlockReceipts(client, { block: blockNumber })
  return {
    blockNumber,
    blockHash: undefined,
    receipts: receipts.map((receipt) => ({
      ...receipt,
      ...early,
      logs: receipt.logs.map((log) => ({ ...log, ...early })),
    })),
  }
}

const early = { blockHash: undefined, preconfirmed: true }

/**
 * Returns a block without receipts, after a check that it has no transactions.
 */
async function getEmpty(client: Client, block: string): Promise<BlockReceipts> {
  const { head, hashes } = await getTransactions(client, block)
  if (hashes.length === 0) return { ...head, receipts: [] }
  if (head.blockHash === undefined) return getSingly(client, block)
  // A new block came between the two requests, so the tag changed its meaning.
  // Ask again by number.
  if (!block.startsWith('0x'))
    return getBlockReceipts(client, { block: head.blockNumber })
  return parseFrom(client, () => {
    throw refuse(`is empty, but block ${block} is not`)
  })
}

async function getSingly(
  client: Client,
  block: string,
): Promise<BlockReceipts> {
  const one = 'eth_getTransactionReceipt'
  const { head, hashes } = await getTransactions(client, block)
  const answers = await Promise.all(
    hashes.map(async (hash) => {
      const answer = await requestNode(client, one, [hash])
      const { transactionHash = hash } = Object(answer)
      if (String(transactionHash).toLowerCase() === hash.toLowerCase())
        return answer
      return parseFrom(client, () => {
        throw refuse('is for another transaction', one)
      })
    }),
  )
  if (head.blockHash) {
    const receipts = parseFrom(client, () =>
      checkBlock(
        answers.map((answer) => parseRpcReceipt(answer, one)),
        encodeBlock(head.blockNumber),
        head.blockHash,
      ),
    )
    return { ...head, receipts }
  }
  const known = answers.filter((answer) => answer !== null)
  // An ordinary node shows its mempool as the pending block, and has no
  // receipts for it. Return those of the newest block.
  if (known.length === 0 && hashes.length > 0)
    return getSingly(client, 'latest')
  const receipts = parseFrom(client, () =>
    known.map((answer) => parseRpcReceipt(answer, one)),
  )
  // The block was completed meanwhile, perhaps with more transactions than were
  // listed before. Read it again by number.
  const sealed = receipts.find(({ blockHash }) => blockHash)
  if (sealed) return getSingly(client, encodeBlock(sealed.blockNumber))
  return describe(receipts) ?? { ...head, receipts }
}

/**
 * Checks that all receipts belong to one block. Between two requests, the chain
 * can grow, or another replica can answer.
 */
function checkBlock(
  receipts: readonly ReadReceipt[],
  block: string,
  hash: Hash | undefined = receipts[0]?.blockHash,
): readonly ReadReceipt[] {
  for (const { blockHash, blockNumber } of receipts) {
    const isAnother = block.startsWith('0x') && blockNumber !== BigInt(block)
    if (blockHash !== hash || isAnother) throw refuse('is for another block')
  }
  const hashes = new Set(receipts.map((receipt) => receipt.transactionHash))
  if (hashes.size < receipts.length) throw refuse('holds a receipt twice')
  return receipts
}

/** Checks that no receipt is missing before another one. */
function checkPlaces(receipts: readonly ReadReceipt[]): readonly ReadReceipt[] {
  const places = new Set(receipts.map((receipt) => receipt.transactionIndex))
  for (const place of receipts.keys())
    if (!places.has(place)) throw refuse(`lacks receipt ${place} of the block`)
  return receipts
}

/**
 * Adds the number and hash of the block. If pending receipts are of several
 * blocks, takes the newest.
 */
function describe(receipts: readonly ReadReceipt[]): BlockReceipts | undefined {
  const { blockNumber, blockHash } = receipts.at(-1) ?? {}
  if (blockNumber === undefined) return undefined
  return { blockNumber, blockHash, receipts }
}

type BlockTransactions = {
  head: { blockNumber: bigint; blockHash: Hash | undefined }
  hashes: readonly string[]
}

async function getTransactions(
  client: Client,
  block: string,
): Promise<BlockTransactions> {
  const asked = 'eth_getBlockByNumber'
  const ask = async (tag: string) => {
    const answer = await requestNode(client, asked, [tag, false])
    return parseFrom(client, () => parseTransactions(answer, asked, tag))
  }
  if (block !== 'pending') {
    const found = await ask(block)
    if (found) return found
    return parseFrom(client, () => {
      throw refuse(`has no ${block} block`, asked)
    })
  }
  const [latest, pending] = await Promise.all([
    getTransactions(client, 'latest'),
    ask('pending'),
  ])
  if (!pending) return latest
  // A pending block above the newest one is not complete. If it has a hash, an
  // ordinary node invented it and has no receipts for the block. Then return
  // the newest block.
  const isSealed = pending.head.blockNumber <= latest.head.blockNumber
  return pending.head.blockHash === undefined || isSealed ? pending : latest
}

function parseTransactions(
  answer: unknown,
  asked: string,
  block: string,
): BlockTransactions | undefined {
  const { number, hash, transactions } = Object(answer)
  if (answer === null || number === null) return undefined
  const isList =
    Array.isArray(transactions) &&
    transactions.every((one) => typeof one === 'string')
  if (!isList) throw refuse('holds no transaction hashes', asked)
  const isHash = typeof hash === 'string' && namesBlock(hash)
  if (!isHash && block !== 'pending') throw refuse('holds no hash', asked)
  return {
    head: {
      blockNumber: parseQuantity(number, asked),
      blockHash: isHash ? (hash as Hash) : undefined,
    },
    hashes: transactions,
  }
}

function refuse(problem: string, asked: string = method): NodeAnswerError {
  return new NodeAnswerError({ method: asked, problem })
}
