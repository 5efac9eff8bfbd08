import type { BlockTag, Client, Hex } from 'viem'
import { classifyFailure, isTemporary } from './classifyFailure.js'
import { NodeAnswerError, NodeError, parseFailure } from './errors.js'
import type { RpcOutcome, SendRpc } from './rpcBatch.js'
import { sendAgain } from './sendAgain.js'
import type { NodeFailure } from './types.js'

/** A block by number or tag; tags are those of the Ethereum JSON-RPC API. */
export type BlockSelector = bigint | BlockTag

export type RequestOptions = {
  /** Aborts the request. A read client then does not send or repeat it. */
  signal?: AbortSignal | undefined
  /**
   * How often a plain viem client repeats the request. A read client has its
   * own setting.
   */
  retryCount?: number | undefined
}

/**
 * Sends one JSON-RPC request, and repeats it after temporary failures.
 *
 * @throws {@link NodeError} when there is no answer, or the answer is an error.
 */
export async function requestNode(
  client: Pick<Client, 'request'>,
  method: string,
  params: readonly unknown[],
  options?: RequestOptions | undefined,
): Promise<unknown> {
  const { result, failure } = await tryRequest(client, method, params, options)
  if (failure) throw new NodeError({ method, failure })
  return result
}

/** Sends one JSON-RPC request. Returns a failure instead of throwing it. */
export async function tryRequest(
  client: Pick<Client, 'request'>,
  method: string,
  params: readonly unknown[],
  { signal, ...options }: RequestOptions = {},
): Promise<RpcOutcome> {
  const { send, ...transport } = transportOf(client)
  if (send) return send(method, params, signal)
  const { retryCount = transport.retryCount ?? 0 } = options
  const attempt = async () => {
    try {
      // `retryCount: 0`, because viem would wait for any `Retry-After`, however
      // long. No `signal`, because viem before 2.57.5 ignores its own timeout
      // if it gets one.
      const result = await client.request({ method, params } as never, {
        retryCount: 0,
      })
      return { result }
    } catch (error) {
      return { failure: parseFailure(error, transport) }
    }
  }
  return sendAgain([method], retryCount, attempt, signal, isWorthIt)
}

/**
 * True if a retry may help. False when a replica is behind the chain: it needs
 * longer to catch up than the pauses between retries.
 */
const isWorthIt = (failure: NodeFailure): boolean =>
  isTemporary(failure) && classifyFailure(failure) !== 'headBehind'

/**
 * Returns the `send` of a read client's transport, which skips viem's own
 * errors and retries. No other transport has it.
 */
function transportOf(client: object): {
  send?: SendRpc
  url?: unknown
  retryCount?: number
} {
  return Object((client as { transport?: unknown }).transport)
}

export function encodeBlock(block: BlockSelector): string {
  return typeof block === 'bigint' ? `0x${block.toString(16)}` : block
}

export function parseQuantity(value: unknown, method: string): bigint {
  if (typeof value !== 'string' || !/^0x[\da-f]{1,64}$/i.test(value))
    throw new NodeAnswerError({ method, problem: 'is not a quantity' })
  return BigInt(value)
}

export async function requestQuantity(
  client: Pick<Client, 'request'>,
  method: string,
  params: readonly unknown[] = [],
  options?: RequestOptions | undefined,
): Promise<bigint> {
  const answer = await requestNode(client, method, params, options)
  return parseQuantity(answer, method)
}

export async function getChainId(
  client: Pick<Client, 'request'>,
): Promise<number> {
  return Number(await requestQuantity(client, 'eth_chainId'))
}

export function parseBytes(value: unknown, method: string): Hex {
  if (typeof value !== 'string' || !/^0x([\da-f]{2})*$/i.test(value))
    throw new NodeAnswerError({ method, problem: 'is not hex bytes' })
  return value as Hex
}

export function parseList(value: unknown, method: string): readonly unknown[] {
  if (!Array.isArray(value))
    throw new NodeAnswerError({
      method,
      problem: value === null ? 'is null instead of a list' : 'is not a list',
    })
  return value
}

/**
 * Gets the fields of a block that this library uses; `undefined` if there is no
 * such block.
 */
export async function getBlockHead(
  client: Pick<Client, 'request'>,
  block: BlockSelector,
  options?: RequestOptions | undefined,
): Promise<BlockHead | undefined> {
  const method = 'eth_getBlockByNumber'
  const params = [encodeBlock(block), false]
  const answer = (await requestNode(client, method, params, options)) as Record<
    string,
    unknown
  > | null
  if (!answer) return undefined
  return {
    number: parseQuantity(answer.number, method),
    timestamp: parseQuantity(answer.timestamp, method),
    hash: typeof answer.hash === 'string' ? (answer.hash as Hex) : undefined,
    baseFeePerGas: answer.baseFeePerGas
      ? parseQuantity(answer.baseFeePerGas, method)
      : undefined,
  }
}

export type BlockHead = {
  number: bigint
  /** Unix seconds. */
  timestamp: bigint
  hash?: Hex | undefined
  /** Wei; absent on chains without EIP-1559. */
  baseFeePerGas?: bigint | undefined
}
