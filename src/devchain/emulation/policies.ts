import { checkMembers, type MembersOf } from '../../core/checkMembers.js'
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

/** A known provider's words, or words of one's own. */
export type LogLimitWording =
  | ProviderWordingName
  | Pick<ProviderWording, 'code' | 'status' | 'text'>

/** What a provider refuses or delays; nothing by default. */
export type DevPolicies = {
  /** HTTP 403 to `eth_getBlockReceipts`, as public endpoints answer. */
  blockReceipts?: 'forbidden' | undefined
  /** The widest `eth_getLogs`, in blocks, both ends counted. */
  maxLogRange?:
    | { blocks: number; wording?: LogLimitWording | undefined }
    | undefined
  /** The most logs in one answer; a single block is never refused. */
  maxLogResults?:
    | { logs: number; wording?: LogLimitWording | undefined }
    | undefined
  /** HTTP 429 to every n-th HTTP request or WebSocket message. */
  rateLimit?:
    | {
        every: number
        /** Seconds of the `Retry-After` header. Default: none. */
        retryAfter?: number | undefined
      }
    | undefined
  /**
   * How many transactions of a sender the pool takes beyond `latest`. Default
   * words: those of Reth, which takes 16.
   */
  maxPending?:
    | {
        transactions: number
        code?: number | undefined
        text?: string | undefined
      }
    | undefined
  /** Milliseconds before each request is looked at. */
  latency?: number | undefined
  /** HTTP 400 to requests of more than one call. */
  batches?: 'refused' | undefined
  /** `pending` answers like `latest`, as a node without a snapshot does. */
  pendingFallsBack?: boolean | undefined
  /** An error to `pendingLogs` and its like, as a plain node answers. */
  flashblockSubscriptions?: 'refused' | undefined
}

const policyMembers: MembersOf<DevPolicies> = {
  blockReceipts: true,
  maxLogRange: true,
  maxLogResults: true,
  rateLimit: true,
  maxPending: true,
  latency: true,
  batches: true,
  pendingFallsBack: true,
  flashblockSubscriptions: true,
}

/** Refuses policies with unknown members. */
export function checkPolicies(policies: DevPolicies): void {
  checkMembers(policies, policyMembers, 'policies')
}

/** Refuses a whole request before any of its calls is answered. */
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

/** Refuses a log request that is too wide. */
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

/** Refuses an answer with too many logs. */
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

/** Refuses a transaction too far beyond what the chain has of its sender. */
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
