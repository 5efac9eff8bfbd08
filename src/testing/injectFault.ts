import {
  HttpRequestError,
  numberToHex,
  TimeoutError,
  type Transport,
} from 'viem'
import { askAtBlock, asksForHead } from './staleHead.js'

/** The ways in which a node or the network can fail. */
export type FaultKind =
  | 'drop'
  | 'delay'
  | 'duplicate'
  | 'http429'
  | 'http500'
  | 'http503'
  | 'truncated'
  | 'malformed'
  | 'wrongId'
  | 'staleHead'
  | 'otherReplica'

/** Parameters of {@link faultTransport}. */
export type FaultTransportParameters = {
  /**
   * An integer that decides the faults. The same seed with the same calls gives
   * the same faults.
   */
  seed: number
  /**
   * Probability of each fault, from 0 to 1, at most 1 in total. A fault that is
   * missing here never occurs. Default: 0.02 for each.
   */
  rates?: Partial<Record<FaultKind, number>> | undefined
  /** Longest delay in milliseconds. Default: 50. */
  delay?: number | undefined
  /** Seconds of the `Retry-After` header of HTTP 429. Default: no header. */
  retryAfter?: number | undefined
  /** Blocks by which a stale head is behind the real one. Default: 3. */
  staleBlocks?: number | undefined
  /**
   * Transport of a second node, whose answers the fault `otherReplica` returns.
   * If absent, this fault does not occur.
   */
  replica?: Transport | undefined
}

export type Question = { method: string; params?: unknown }
export type Ask = (question: Question) => Promise<unknown>
/** The node behind the transport, and its last answer. */
export type Failing = {
  ask: Ask
  replica: Ask | undefined
  url: string
  /** The last answer of the node, which `wrongId` returns for a later call. */
  previous: unknown
}

type FailParameters = {
  question: Question
  /**
   * A number from 0 to 1 that chooses the variant of the fault, such as the
   * length of a delay.
   */
  detail: number
  failing: Failing
  parameters: FaultTransportParameters
}

/** Makes one call fail in the way that `kind` names. */
export async function injectFault(
  kind: FaultKind,
  { question, detail, failing, parameters }: FailParameters,
): Promise<unknown> {
  const { ask, replica, url, previous } = failing
  const { delay = 50, staleBlocks = 3, retryAfter } = parameters
  switch (kind) {
    case 'drop':
      return drop(failing, question, detail)
    case 'delay':
      await new Promise((resolve) => setTimeout(resolve, detail * delay))
      return remember(failing, await ask(question))
    case 'duplicate': {
      const [first] = await Promise.allSettled([ask(question), ask(question)])
      if (first.status === 'rejected') throw first.reason
      return remember(failing, first.value)
    }
    case 'http429':
      throw httpError({ question, url, status: 429, retryAfter })
    case 'http500':
      throw httpError({ question, url, status: 500 })
    case 'http503':
      throw httpError({ question, url, status: 503 })
    case 'truncated':
      return truncate(await ask(question), detail, (cause) => {
        return new HttpRequestError({ body: { ...question }, cause, url })
      })
    case 'malformed':
      return mangle(await ask(question), detail)
    case 'wrongId':
      await ask(question)
      return previous
    case 'staleHead':
      return askStale(ask, question, staleBlocks)
    case 'otherReplica':
      return remember(failing, await (replica ?? ask)(question))
  }
}

async function drop(
  { ask, url }: Failing,
  question: Question,
  detail: number,
): Promise<never> {
  const body = { ...question }
  if (detail < 0.5) {
    const cause = new TypeError('fetch failed')
    throw new HttpRequestError({ body, cause, details: cause.message, url })
  }
  // The call reaches the node; only its answer is lost.
  await ask(question).catch(() => undefined)
  throw new TimeoutError({ body, url })
}

async function askStale(
  ask: Ask,
  question: Question,
  staleBlocks: number,
): Promise<unknown> {
  const head = Number(await ask({ method: 'eth_blockNumber' }))
  const block = numberToHex(Math.max(0, head - staleBlocks))
  if (question.method === 'eth_blockNumber') return block
  return ask(askAtBlock(question, block))
}

function httpError({
  question,
  url,
  status,
  retryAfter,
}: {
  question: Question
  url: string
  status: number
  retryAfter?: number | undefined
}): HttpRequestError {
  const words = { 429: 'Too Many Requests', 500: 'Internal Server Error' }
  const details = words[status as keyof typeof words] ?? 'Service Unavailable'
  const headers = new Headers(
    retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) },
  )
  return new HttpRequestError({
    body: { ...question },
    details,
    headers,
    status,
    url,
  })
}

/**
 * True when this kind of fault is possible for this call. For example, only a
 * call that reads the newest block can get a stale one.
 */
export function isPossible(
  kind: FaultKind,
  question: Question,
  { replica, previous }: Failing,
): boolean {
  if (kind === 'staleHead') return asksForHead(question)
  if (kind === 'wrongId') return previous !== undefined
  return kind !== 'otherReplica' || replica !== undefined
}

/** Keeps the answer, so that `wrongId` can return it for a later call. */
export function remember(failing: Failing, answer: unknown): unknown {
  failing.previous = answer
  return answer
}

/**
 * Cuts the body of an answer short, and fails like a transport that parses it.
 *
 * @throws the error that `toError` makes of the parser's error.
 */
function truncate(
  answer: unknown,
  detail: number,
  toError: (cause: Error) => Error,
): never {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, result: answer ?? null })
  const cut = body.slice(0, Math.floor(detail * (body.length - 1)))
  try {
    JSON.parse(cut)
  } catch (error) {
    throw toError(error instanceof Error ? error : new Error(String(error)))
  }
  throw toError(new SyntaxError('Unexpected end of JSON input'))
}

/** Returns the answer with one part replaced by a value of a wrong type. */
function mangle(answer: unknown, detail: number): unknown {
  if (typeof answer === 'string') return detail < 0.5 ? '0xnothex' : 12
  if (Array.isArray(answer)) {
    if (answer.length === 0) return {}
    const at = Math.floor(detail * answer.length)
    return answer.map((one, place) => (place === at ? null : one))
  }
  if (typeof answer !== 'object' || answer === null) return 'null'
  const names = Object.keys(answer)
  const name = names[Math.floor(detail * names.length)]
  return name === undefined ? [] : { ...answer, [name]: { not: 'this' } }
}
