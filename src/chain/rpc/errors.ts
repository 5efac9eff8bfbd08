import { CountersignError } from '../../core/CountersignError.js'
import { parseRetryAfter } from '../../core/parseRetryAfter.js'
import { redact } from '../../core/redact.js'
import { hideKeys } from './hideKeys.js'
import { hostOf } from './hostOf.js'

/** What is worth keeping of an error a node, a transport or a wallet gave. */
export type NodeFailure = {
  /** JSON-RPC error code. */
  code?: number
  /** HTTP status. */
  status?: number
  /** The peer's words, free of long hex, addresses of endpoints and calls. */
  words: string
  /** Revert data. */
  data?: `0x${string}`
  /** Host of the endpoint: its path and credentials may be secret. */
  host?: string | undefined
  /** Milliseconds after which the peer wants to be asked again. */
  retryAfter?: number | undefined
}

/**
 * A node did not answer a request, or refused it. Carries the node's words but
 * not the underlying error: that one prints the request, which may hold a
 * signature.
 */
export class NodeError extends CountersignError {
  override readonly name = 'NodeError'
  override readonly retryable: boolean

  constructor({
    method,
    failure,
  }: {
    method: string
    failure: NodeFailure
  }) {
    const { data: _, ...facts } = failure
    const at = facts.host ? ` at ${facts.host}` : ''
    super(`${method} failed${at}: ${describe(facts)}.`, { method, ...facts })
    this.retryable = isPassing(failure)
  }
}

/** The HTTP status with the peer's words, and the pause that it asks for. */
function describe({ status, words, retryAfter }: NodeFailure): string {
  const limit = status === 429 ? ' (too many requests)' : ''
  const http = status === undefined ? '' : `HTTP ${status}`
  const answer =
    words === http || !http ? `${words}${limit}` : `${http}${limit}, ${words}`
  return retryAfter
    ? `${answer}; ask again after ${Math.ceil(retryAfter / 1000)} seconds`
    : answer
}

/** A node answered with something the method cannot mean. */
export class NodeAnswerError extends CountersignError {
  override readonly name = 'NodeAnswerError'
  override readonly retryable = true

  constructor(facts: {
    method: string
    problem: string
    host?: string | undefined
  }) {
    super(`The answer to ${facts.method} ${facts.problem}.`, facts)
  }
}

/** No contract with EIP-3009's functions answers at the token's address. */
export class UnsupportedTokenError extends CountersignError {
  override readonly name = 'UnsupportedTokenError'

  constructor(facts: { token: string; problem: string }) {
    super(`Token ${facts.token} ${facts.problem}.`, facts)
  }
}

/** No candidate domain hashes to the separator the token signs under. */
export class DomainMismatchError extends CountersignError {
  override readonly name = 'DomainMismatchError'

  constructor({
    token,
    onChain,
    tried,
  }: {
    token: string
    onChain: string
    tried: readonly { name: string; version: string; separator: string }[]
  }) {
    const shown = tried.map(
      ({ name, version, separator }) => `"${name}" "${version}": ${separator}`,
    )
    super(
      `Token ${token} signs under separator ${onChain}, not ${shown.join(', ')}.`,
      { token, onChain, tried },
    )
  }
}

/** A node refuses the logs and the receipts of one block. Has its words. */
export class LogRangeError extends CountersignError {
  override readonly name = 'LogRangeError'

  constructor(facts: { block: bigint; kind: string; words: string }) {
    super(
      `The node refuses the logs of block ${facts.block}: ${facts.words}.`,
      facts,
    )
  }
}

/** The endpoint does not serve `eth_getBlockReceipts`. */
export class BlockReceiptsForbiddenError extends CountersignError {
  override readonly name = 'BlockReceiptsForbiddenError'

  constructor() {
    super(
      "This endpoint forbids eth_getBlockReceipts; use another provider, or { fallback: 'perTransaction' }.",
    )
  }
}

/** The node has no block for a tag such as `safe`. */
export class FinalityUnsupportedError extends CountersignError {
  override readonly name = 'FinalityUnsupportedError'

  constructor(facts: { finality: string }) {
    super(
      `The node knows no ${facts.finality} block; use a number, as in { blocks: 12 }.`,
      facts,
    )
  }
}

/**
 * Walks viem's chain of causes to the words of the peer. Removes the contents
 * of the transport's URLs and headers from them.
 */
export function parseFailure(error: unknown, transport?: unknown): NodeFailure {
  const failure: NodeFailure = { words: 'no answer' }
  const seen = [transport]
  for (
    let at = error as Record<string, unknown> | undefined, depth = 0;
    at && depth < 10;
    at = at.cause as Record<string, unknown> | undefined, depth++
  ) {
    const data = Object(at.data).data ?? at.data
    // viem's errors have the URL; its WebSocket transport does not.
    seen.push({ url: at.url })
    failure.host ??= hostOf(at.url)
    if (at.headers instanceof Headers)
      failure.retryAfter ??= parseRetryAfter(at.headers.get('retry-after'))
    // viem puts -1 where there was no code at all.
    if (typeof at.code === 'number' && at.code !== -1) failure.code ??= at.code
    if (typeof at.status === 'number') failure.status ??= at.status
    if (typeof data === 'string' && /^0x([\da-f]{2})*$/i.test(data))
      failure.data ??= data as `0x${string}`
    const words = at.details ?? (at.cause ? undefined : at.message)
    if (typeof words === 'string' && words) failure.words = tidy(words)
  }
  failure.host ??= hostOf(Object(transport).url)
  failure.words = seen.reduce<string>(hideKeys, failure.words)
  return failure
}

/** Text with digits followed by letters: it may be a key. */
const keyLike = /\b(?!0x|ERC|EIP)(?=[\w-]*\d[\w-]*[a-z])[\w-]{6,}/gi

/** The first line, within limits: a node may echo the whole request. */
export function tidy(words: string): string {
  const line = words.slice(0, 2000).split('\n', 1)[0] ?? ''
  // Half a secret at the cut would be too short to be recognised as one.
  const whole = line.length < 2000 ? line : line.replace(/\S+$/, '…')
  return redact(whole.replace(/\w+:\/\/\S+/g, '(url)'))
    .replace(keyLike, '…')
    .replace(/\.$/, '')
}

/** Internal error, limits, and timeouts of Geth, QuickNode and Base. */
const passingCodes = [-32603, -32005, -32002, -32007, -32016, 429]

/** An overloaded node, and a replica behind the one that was asked before. */
const passingWords =
  /time[d ]*out|rate limit|too many requests|try again|temporar|unavailable|overloaded|pool is full|header not found|unknown block|beyond (the )?(current )?head|OutOfRange|indexing is in progress/i

/** Whether the same request may be answered later. */
export function isPassing(failure: NodeFailure): boolean {
  const { code, status = 500, words, data } = failure
  if (code === undefined)
    return status === 408 || status === 429 || status >= 500
  if (passingCodes.includes(code)) return true
  return code !== 3 && data === undefined && passingWords.test(words)
}

/** A JSON-RPC error on its way to viem, which knows it by its code. */
export class RpcError extends Error {
  override readonly name = 'RpcError'
  readonly code: number | undefined
  readonly status: number | undefined
  readonly data: unknown

  constructor({ words, code, status, data }: NodeFailure) {
    super(words)
    this.code = code
    this.status = status
    this.data = data
  }
}
