import { checkMembers } from '../../core/checkMembers.js'
import type { NodeConnection } from '../sequencer/connectNode.js'
import { asJson, type Json, RpcFault } from '../sequencer/devRpc.js'
import { parseRaw } from '../sequencer/mempool.js'
import type { Sequencer } from '../sequencer/sequencer.js'
import { blockNumberOf } from './canonicalLogs.js'
import {
  fillWording,
  type ProviderWording,
  type ProviderWordingName,
  providerWordings,
  type WordingFacts,
} from './providerWordings.js'

/** The error text of a known provider, or a text of your own. */
type LogLimitWording =
  | ProviderWordingName
  | Pick<ProviderWording, 'code' | 'status' | 'text'>

/**
 * Makes the chain refuse or delay requests, as a provider would. By default it
 * refuses none.
 */
export type DevPolicies = {
  /**
   * `'forbidden'`: answers `eth_getBlockReceipts` with HTTP 403, as public
   * endpoints do.
   */
  blockReceipts?: 'forbidden' | undefined
  /** Widest range of `eth_getLogs` in blocks, both ends included. */
  maxLogRange?:
    | { blocks: number; wording?: LogLimitWording | undefined }
    | undefined
  /** Most logs in one answer. A range of a single block is never refused. */
  maxLogResults?:
    | { logs: number; wording?: LogLimitWording | undefined }
    | undefined
  /**
   * Refuses every n-th HTTP request or WebSocket message with HTTP 429, like a
   * provider with a rate limit.
   */
  rateLimit?:
    | {
        every: number
        /** Seconds of the `Retry-After` header. Default: none. */
        retryAfter?: number | undefined
      }
    | undefined
  /**
   * Most transactions of one sender that may wait in the pool, counted from its
   * account nonce at `latest`. Reth (node software) accepts 16, and the default
   * error text is Reth's.
   */
  maxPending?:
    | {
        transactions: number
        code?: number | undefined
        text?: string | undefined
      }
    | undefined
  /** Milliseconds to wait before each request. */
  latency?: number | undefined
  /** `'refused'`: answers a batch of several calls with HTTP 400. */
  batches?: 'refused' | undefined
  /**
   * True to answer `pending` like `latest`, as nodes without a pending block
   * do.
   */
  pendingFallsBack?: boolean | undefined
  /**
   * `'refused'`: refuses subscriptions that only Flashblocks have, such as
   * `pendingLogs`.
   */
  flashblockSubscriptions?: 'refused' | undefined
}

/**
 * Checks the names of policies.
 *
 * @throws {@link InvalidFieldError} for an unknown member.
 */
export function checkPolicies(policies: DevPolicies): void {
  checkMembers(
    policies,
    [
      'blockReceipts',
      'maxLogRange',
      'maxLogResults',
      'rateLimit',
      'maxPending',
      'latency',
      'batches',
      'pendingFallsBack',
      'flashblockSubscriptions',
    ],
    'policies',
  )
}

/**
 * Returns the error with which a provider refuses a whole request, before it
 * reads the calls in it. Returns `undefined` if the request is accepted.
 */
export function refuseRequest(
  policies: DevPolicies,
  { methods, count }: { methods: readonly unknown[]; count: number },
): RpcFault | undefined {
  const { rateLimit, batches, blockReceipts } = policies
  if (rateLimit && count % rateLimit.every === 0) {
    const { code, status, text } = providerWordings.baseRateLimit
    const { retryAfter } = rateLimit
    return new RpcFault({ code, status, message: text, retryAfter })
  }
  if (batches && methods.length > 1) {
    const message = 'batch requests are not supported'
    return new RpcFault({ code: -32600, status: 400, message })
  }
  if (blockReceipts && methods.includes('eth_getBlockReceipts')) {
    const message = 'Forbidden'
    return new RpcFault({ code: 403, status: 403, message, body: message })
  }
  return undefined
}

/**
 * Refuses a log request over too many blocks.
 *
 * @throws {@link RpcFault}
 */
export async function refuseLogRange(
  { maxLogRange }: DevPolicies,
  {
    source,
    filter,
  }: { source: Pick<Sequencer, 'node' | 'head'>; filter: Json },
): Promise<void> {
  if (!maxLogRange || filter.blockHash !== undefined) return
  const { blocks: limit, wording = 'publicBase' } = maxLogRange
  const from = await blockNumberOf(source, filter.fromBlock)
  const last = await blockNumberOf(source, filter.toBlock)
  const requested = last - from + 1
  if (requested <= limit) return
  throw limitFault(wording, { limit, requested, from, to: from + limit - 1 })
}

/**
 * Refuses an answer with too many logs.
 *
 * @throws {@link RpcFault}
 */
export function refuseLogResults(
  { maxLogResults }: DevPolicies,
  logs: unknown,
): void {
  if (!maxLogResults || !Array.isArray(logs)) return
  const { logs: limit, wording = 'rethResults' } = maxLogResults
  if (logs.length <= limit) return
  const blocks = logs.map((log) => Number(asJson(log).blockNumber))
  const [from = 0] = blocks
  if (blocks.at(-1) === from) return
  const next = blocks[limit] ?? from
  const to = Math.max(from, next - 1)
  throw limitFault(wording, { limit, requested: logs.length, from, to })
}

/**
 * Refuses a transaction if its sender has too many in the pool.
 *
 * @throws {@link RpcFault}
 */
export async function refuseFullSender(
  { maxPending }: DevPolicies,
  { node, raw }: { node: NodeConnection; raw: unknown },
): Promise<void> {
  const read = maxPending && (await parseRaw(raw))
  if (!read) return
  const params = [read.from, 'latest']
  const count = Number(await node.request('eth_getTransactionCount', params))
  const { transactions, code = -32003, text = 'txpool is full' } = maxPending
  if (read.nonce >= count + transactions)
    throw new RpcFault({ code, message: text })
}

function limitFault(wording: LogLimitWording, facts: WordingFacts): RpcFault {
  const { code, status, text } =
    typeof wording === 'string' ? providerWordings[wording] : wording
  return new RpcFault({ code, status, message: fillWording(text, facts) })
}
