import { CountersignError } from '../../core/CountersignError.js'
import { parseRetryAfter } from '../../core/parseRetryAfter.js'
import { hideBytes, redact } from '../../core/redact.js'
import {
  classifyFailure,
  type FailureKind,
  isTemporary,
} from './classifyFailure.js'
import { hideKeys } from './hideKeys.js'
import { hostOf } from './hostOf.js'
import type { NodeFailure } from './types.js'

/**
 * A node did not answer a request, or refused it. Contains the node's text, but
 * not viem's error, whose text has the request with any signature in it.
 */
export class NodeError extends CountersignError {
  override readonly name = 'NodeError'
  override readonly retryable: boolean
  readonly kind: FailureKind

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
    this.retryable = isTemporary(failure)
    this.kind = classifyFailure(failure)
  }
}

function describe({ status, words, retryAfter }: NodeFailure): string {
  const limit = status === 429 ? ' (too many requests)' : ''
  const http = status === undefined ? '' : `HTTP ${status}`
  const answer =
    words === http || !http ? `${words}${limit}` : `${http}${limit}, ${words}`
  return retryAfter
    ? `${answer}; ask again after ${Math.ceil(retryAfter / 1000)} seconds`
    : answer
}

/** A node's answer does not have the form that the method requires. */
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

/**
 * None of the EIP-712 domains that we tried hashes to the token's separator.
 */
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
      `Token ${token} has domain separator ${onChain}, not ${shown.join(', ')}.`,
      { token, onChain, tried },
    )
  }
}

/**
 * A node refuses both the logs and the receipts of a block. Contains the node's
 * error text.
 */
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
      "This endpoint forbids eth_getBlockReceipts: use another, or pass fallback: 'perTransaction'.",
    )
  }
}

/** The node has no block for a tag such as `safe`. */
export class FinalityUnsupportedError extends CountersignError {
  override readonly name = 'FinalityUnsupportedError'

  constructor(facts: { finality: string }) {
    super(
      `The node has no ${facts.finality} block; pass a number of blocks, as in { blocks: 12 }.`,
      facts,
    )
  }
}

/**
 * Collects code, status, text and revert data from viem's chain of causes.
 * Removes keys and passwords of the transport's URLs and headers.
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
    // Takes the URL from the error, so that its keys can be hidden: a viem
    // WebSocket transport does not have the URL.
    seen.push({ url: at.url })
    failure.host ??= hostOf(at.url)
    if (at.headers instanceof Headers)
      failure.retryAfter ??= parseRetryAfter(
        at.headers.get('retry-after'),
        at.headers.get('date'),
      )
    // viem uses -1 when the node sent no code.
    if (typeof at.code === 'number' && at.code !== -1) failure.code ??= at.code
    if (typeof at.status === 'number') failure.status ??= at.status
    if (typeof data === 'string' && /^0x([\da-f]{2})*$/i.test(data))
      failure.data ??= data as `0x${string}`
    const words = at.details ?? (at.cause ? undefined : at.message)
    if (typeof words === 'string' && words)
      Object.assign(failure, parseWords(words))
  }
  failure.host ??= hostOf(Object(transport).url)
  failure.words = seen.reduce<string>(hideKeys, failure.words)
  return failure
}

/**
 * Parses an error text. If the server answered with an HTTP error, viem's
 * `http` may have put the JSON-RPC error into the text as JSON.
 */
function parseWords(words: string): NodeFailure {
  try {
    if (/^[{"]/.test(words)) return parseRpcError(JSON.parse(words))
  } catch {
    // The text is not JSON, so it is the message itself.
  }
  return { words: tidy(words) }
}

/** Parses a JSON-RPC error object. Its `data` may be revert data. */
export function parseRpcError(error: unknown): NodeFailure {
  const { code, message = error, data } = Object(error)
  return {
    words:
      typeof message === 'string' ? tidy(message) : 'an error without text',
    ...(typeof code === 'number' ? { code } : {}),
    ...(typeof data === 'string' && data.startsWith('0x')
      ? { data: data as `0x${string}` }
      : {}),
  }
}

/**
 * Matches words in which a letter follows a digit, because they may be API
 * keys.
 */
const keyLike = /\b(?!0x|ERC|EIP)(?=[\w-]*\d[\w-]*[a-z])[\w-]{6,}/gi

/**
 * Keeps the first line of an error text, without keys and long hex: a node may
 * repeat the whole request with its signature.
 */
export function tidy(words: string): string {
  // Hides binary data before the text is cut at a line break. One of its bytes
  // may be a line break, and the other half of a secret would not be
  // recognized.
  const line = hideBytes(words.slice(0, 2000)).split('\n', 1)[0] ?? ''
  // Cuts long text at a space, because `redact` would not recognize half of a
  // secret.
  const whole = line.length < 2000 ? line : line.replace(/\S+$/, '…')
  return redact(whole.replace(/\w+:\/\/\S+/g, '(url)'))
    .replace(keyLike, '…')
    .replace(/\.$/, '')
}

/**
 * A JSON-RPC error in the form that viem expects: viem recognizes errors by
 * their `code`.
 */
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
