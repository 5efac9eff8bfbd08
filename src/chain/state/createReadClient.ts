import { type Chain, type Client, createClient, type Transport } from 'viem'
import { checkMembers } from '../../core/checkMembers.js'
import { InvalidFieldError, shown } from '../../core/errors.js'
import { getLogs } from '../logs/getLogs.js'
import { streamLogs } from '../logs/streamLogs.js'
import { watchLogs } from '../logs/watchLogs.js'
import { readTransport } from '../rpc/readTransport.js'
import { steadyTransport } from '../rpc/steadyTransport.js'
import { detectPreconfirmations } from './detectPreconfirmations.js'
import { getBalance } from './getBalance.js'
import { getBlockReceipts } from './getBlockReceipts.js'
import { getTransactionCount } from './getTransactionCount.js'

type Reads = {
  detectPreconfirmations: typeof detectPreconfirmations
  getBalance: typeof getBalance
  getBlockReceipts: typeof getBlockReceipts
  getLogs: typeof getLogs
  getTransactionCount: typeof getTransactionCount
  streamLogs: typeof streamLogs
  watchLogs: typeof watchLogs
}

/**
 * The type of a function as a method of a client: without its parameter
 * `client`.
 */
type Method<read extends (client: Client, ...rest: never[]) => unknown> =
  read extends (client: Client, ...rest: infer rest) => infer result
    ? (...rest: rest) => result
    : never

/** A viem client with the reads as methods. */
export type ReadClient = Client & { [name in keyof Reads]: Method<Reads[name]> }

/** Endpoint and options of {@link createReadClient}. */
export type CreateReadClientParameters = {
  /** HTTP endpoint. Pass this or `transport`. */
  url?: string | undefined
  /** Any viem transport. Pass this or `url`. */
  transport?: Transport | undefined
  chain?: Chain | undefined
  /**
   * Most calls in one HTTP request; `false` sends each call alone.
   * @default 100
   */
  batch?: number | false | undefined
  /** Most retries of a request that may succeed later. @default 3 */
  retry?: number | undefined
  /**
   * Milliseconds after which one HTTP request fails.
   * @default 10_000
   */
  timeout?: number | undefined
  /** Headers for each HTTP request, for example for authentication. */
  headers?: Readonly<Record<string, string>> | undefined
}

/**
 * Creates a viem client with the chain reads as methods. With `url`, sends the
 * calls of one turn of the event loop as one JSON-RPC batch, and retries only
 * what may succeed later: network faults, HTTP 429 (after its `Retry-After`),
 * 502, 503, 504. The pauses of one request take at most 30 seconds: if a node
 * asks for more, you get a `NodeError` at once, with the pause as
 * `details.retryAfter`.
 *
 * @throws {@link InvalidFieldError} when neither or both of `url` and
 * `transport` are given, the URL is not an HTTP URL, or a number is invalid.
 *
 * @example
 * ```ts
 * import { createReadClient } from 'countersign/reads'
 *
 * const client = createReadClient({ url: 'http://127.0.0.1:8545' })
 * const address = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
 * const [wei, nonce] = await Promise.all([
 *   client.getBalance({ address, block: 'latest' }),
 *   client.getTransactionCount({ address, block: 'pending' }),
 * ])
 * ```
 */
export function createReadClient(
  parameters: CreateReadClientParameters,
): ReadClient {
  checkMembers(parameters, [
    'url',
    'transport',
    'chain',
    'batch',
    'retry',
    'timeout',
    'headers',
  ])
  const given: CreateReadClientParameters = Object(parameters)
  const { url, transport, chain, batch = 100 } = given
  const { retry = 3, timeout = 10_000, headers = {} } = given
  if ((url === undefined) === (transport === undefined))
    throw new InvalidFieldError(
      'url',
      url,
      transport
        ? 'left out if transport is given'
        : 'given if transport is left out',
    )
  requireNumbers({ batch: batch === false ? 1 : batch, retry, timeout })
  const client = createClient({
    ...(chain ? { chain } : {}),
    transport: transport
      ? steadyTransport(transport, retry)
      : readTransport({
          url: parseUrl(url),
          headers,
          timeout,
          retries: retry,
          batchSize: batch === false ? 1 : Math.max(1, Math.floor(batch)),
        }),
  })
  const reads: Reads = {
    detectPreconfirmations,
    getBalance,
    getBlockReceipts,
    getLogs,
    getTransactionCount,
    streamLogs,
    watchLogs,
  }
  return client.extend((base) =>
    Object.fromEntries(
      Object.entries(reads).map(([name, read]) => [
        name,
        (options: never) => read(base as Client, options as never),
      ]),
    ),
  ) as unknown as ReadClient
}

/**
 * Refuses numbers with which no call would be sent, or every call would time
 * out at once.
 */
function requireNumbers(options: Record<string, number>): void {
  for (const [name, value] of Object.entries(options))
    if (typeof value !== 'number' || Number.isNaN(value))
      throw new InvalidFieldError(name, shown(value), 'a number')
  const { timeout } = options
  if (!(Number(timeout) > 0 && Number(timeout) <= maxTimer))
    throw new InvalidFieldError(
      'timeout',
      shown(timeout),
      `milliseconds from 1 to ${maxTimer}`,
    )
}

/**
 * Longest time in milliseconds that a JavaScript timer accepts. With a longer
 * one, it fires at once.
 */
const maxTimer = 2_147_483_647

function parseUrl(url: string | undefined): string {
  if (typeof url !== 'string' || !URL.canParse(url) || !/^https?:/i.test(url))
    throw new InvalidFieldError('url', url, 'an http(s) URL')
  return url
}
