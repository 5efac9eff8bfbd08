import type { Client } from 'viem'
import { zeroHash } from '../../core/receiptProof.js'
import { parseFrom } from '../rpc/endpointHost.js'
import { NodeError } from '../rpc/errors.js'
import {
  encodeBlock,
  parseQuantity,
  requestNode,
  tryRequest,
} from '../rpc/requestNode.js'

/**
 * Whether and how a network shows transactions before their block is complete.
 */
export type Preconfirmations = NetworkPace & {
  /**
   * `flashblocks`: the `pending` block shows transactions, and is updated about
   * every 200 ms. `fastBlocks`: a new block comes about every 200 ms, and
   * `pending` shows nothing more. `none`: neither was detected.
   */
  kind: 'flashblocks' | 'fastBlocks' | 'none'
  evidence: {
    latestBlock: bigint
    /** Absent where the node has no pending block. */
    pendingBlock: bigint | undefined
    /** Flashblocks nodes give the unfinished block a zero hash. */
    pendingHasZeroHash: boolean
    /**
     * Mean seconds between the newest 41 blocks, or as many as there are, from
     * whole-second timestamps; 0 when there is one block.
     */
    secondsPerBlock: number
    /** Blocks carry the `timestampMs` extension of 200 ms networks. */
    hasMilliseconds: boolean
  }
}

const method = 'eth_getBlockByNumber'

/** Number of blocks in each of the two periods that `measurePace` compares. */
const span = 20n

/**
 * Detects whether and how a network pre-confirms, with the evidence. Later
 * waits for `preconfirmed` with this client use the detected tag and interval.
 *
 * It can be wrong: a Flashblocks node that lost its view for a moment looks
 * like `none`. A development chain that mined a block for each of 40
 * transactions, some in each second, looks like `fastBlocks`.
 *
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer, or its answer is malformed.
 *
 * @example
 * ```ts
 * import { createReadClient } from 'countersign/reads'
 *
 * const client = createReadClient({ url: 'http://127.0.0.1:8545' })
 * const { kind, pollingInterval } = await client.detectPreconfirmations()
 * ```
 */
export async function detectPreconfirmations(
  client: Client,
): Promise<Preconfirmations> {
  const found = await lookForPreconfirmations(client)
  seenPaces.set(client.transport, found)
  return found
}

async function lookForPreconfirmations(
  client: Client,
): Promise<Preconfirmations> {
  const [latest, pending] = await Promise.all([
    requestNode(client, method, ['latest', false]),
    getPending(client),
  ])
  const head = parseFrom(client, () => getTagHead(latest))
  const pace = await measurePace(client, head)

  const evidence = {
    latestBlock: head.number,
    pendingBlock:
      pending.number == null
        ? undefined
        : parseFrom(client, () => parseQuantity(pending.number, method)),
    pendingHasZeroHash: pending.hash === zeroHash,
    secondsPerBlock: pace.secondsPerBlock,
    hasMilliseconds: Object(latest).timestampMs !== undefined,
  }
  if (evidence.pendingHasZeroHash)
    return {
      kind: 'flashblocks',
      // A pending block below the newest block is outdated.
      tag: Number(pending.number) < head.number ? 'latest' : 'pending',
      pollingInterval: 100,
      evidence,
    }
  if (evidence.hasMilliseconds || pace.isSteadilyFast)
    return { kind: 'fastBlocks', tag: 'latest', pollingInterval: 100, evidence }
  return { kind: 'none', tag: 'latest', pollingInterval: 1000, evidence }
}

/** Returns the pending block, or an empty object if the node has none. */
async function getPending(client: Client): Promise<Record<string, unknown>> {
  const { result, failure } = await tryRequest(client, method, [
    'pending',
    false,
  ])
  const error = failure && new NodeError({ method, failure })
  if (error?.retryable || (failure && failure.code === undefined)) throw error
  return Object(result)
}

type Head = { number: bigint; timestamp: bigint }

function getTagHead(answer: unknown): Head {
  const { number, timestamp } = Object(answer)
  return {
    number: parseQuantity(number, method),
    timestamp: parseQuantity(timestamp, method),
  }
}

/**
 * Measures the time between blocks in two periods. The chain counts as fast
 * only if both are fast and each lasts at least a second. A chain that mines a
 * block for each transaction makes many blocks at once, then none.
 */
async function measurePace(
  client: Client,
  head: Head,
): Promise<{ secondsPerBlock: number; isSteadilyFast: boolean }> {
  const ask = async (back: bigint) => {
    const number = back < head.number ? head.number - back : 0n
    const answer = await requestNode(client, method, [
      encodeBlock(number),
      false,
    ])
    return parseFrom(client, () => getTagHead(answer))
  }
  const [middle, oldest] = await Promise.all([ask(span), ask(2n * span)])
  const isFast = (from: Head, to: Head) => {
    const seconds = to.timestamp - from.timestamp
    return (
      to.number - from.number === span && seconds >= 1n && seconds < span / 2n
    )
  }
  const blocks = Number(head.number - oldest.number)
  const seconds = Number(head.timestamp - oldest.timestamp)
  return {
    secondsPerBlock: blocks > 0 ? seconds / blocks : 0,
    isSteadilyFast: isFast(oldest, middle) && isFast(middle, head),
  }
}

/** Which block to poll for an outcome, and how often. */
export type NetworkPace = {
  /** The block tag that shows a transaction first. */
  tag: 'pending' | 'latest'
  /**
   * Milliseconds between two polls. More frequent polls would find nothing new.
   */
  pollingInterval: number
}

/** Caches for each transport what `detectPreconfirmations` found last. */
export const seenPaces: WeakMap<object, NetworkPace> =
  /* @__PURE__ */ new WeakMap()
