import { CountersignError } from '../core/CountersignError.js'
import { growingPause, keepTrying } from '../core/keepTrying.js'
import { toJson } from '../core/toJson.js'
import { ProblemError, ServerError } from './errors.js'
import type { Line } from './line.js'

export type ClientFailure = ProblemError | ServerError

export type Asking = {
  /** Path below the client's `url`, with its query. */
  path: string
  /** Sent as JSON. Makes it a POST. */
  body?: object | undefined
  headers?: Record<string, string> | undefined
  signal?: AbortSignal | undefined
}

/**
 * Gets the milliseconds until the next try, and returns those to use instead,
 * or `undefined` to give up.
 */
export type Pacing = (
  pause: number,
  failure: ClientFailure,
) => number | undefined

/**
 * Milliseconds after which a try without an answer fails. It is longer than the
 * 30 s after which the server ends a request.
 */
const longestTry = 40_000

/**
 * Milliseconds between two tries. If `Retry-After` asks for more than
 * `longest`, the request fails at once.
 */
export const pauses = { shortest: 300, longest: 5_000 }

/**
 * Requests JSON, and retries after transient failures.
 *
 * @throws {@link ProblemError} {@link ServerError}
 * @throws the reason of `signal` when that aborts.
 */
export function ask<answer>(
  line: Line,
  { signal, ...asking }: Asking,
  pacing?: Pacing,
): Promise<answer> {
  const work = (): Promise<answer> => {
    const late = AbortSignal.timeout(longestTry)
    const asked = { ...asking, signal: either(signal, late) }
    return askOnce(line, asked, (response) => response.json())
  }
  return repeat(line, signal, work, pacing)
}

/** Repeats work of {@link askOnce} after transient failures. */
export async function repeat<answer>(
  line: Line,
  signal: AbortSignal | undefined,
  work: () => Promise<answer>,
  pacing: Pacing = (pause) => pause,
): Promise<answer> {
  const pauseAfter = (error: unknown, failures: number) => {
    const pause = pauseOf(error, failures)
    if (signal?.aborted || !(failures <= line.retries) || pause === undefined)
      return undefined
    // The cast is safe: `pauseOf` returns a pause only for a `ClientFailure`.
    const failure = error as ClientFailure
    const next = pause > pauses.longest ? undefined : pacing(pause, failure)
    if (next !== undefined) line.onRetry(failure)
    return next
  }
  try {
    return await keepTrying(work, pauseAfter, signal)
  } catch (error) {
    signal?.throwIfAborted()
    throw error
  }
}

/** Aborts when one of the two does. */
export function either(
  signal: AbortSignal | undefined,
  other: AbortSignal,
): AbortSignal {
  return signal ? AbortSignal.any([signal, other]) : other
}

/** Milliseconds until the next try; `undefined` if a retry is useless. */
export function pauseOf(error: unknown, failures: number): number | undefined {
  const { retryable, retryAfter } = Object(error)
  return retryable ? (retryAfter ?? growingPause(failures, pauses)) : undefined
}

/**
 * Sends one request, and reads its answer.
 *
 * @throws {@link ProblemError} {@link ServerError}
 */
export async function askOnce<answer>(
  { url, token, fetch }: Line,
  { path, body, headers, signal }: Asking,
  read: (response: Response) => Promise<answer> | answer,
): Promise<answer> {
  const method = body ? 'POST' : 'GET'
  const request = `${method} ${url}${path}`
  let status: number | undefined
  try {
    const response = await fetch(
      new Request(url + path, {
        method,
        headers: {
          ...(body && { 'content-type': 'application/json' }),
          ...(token && { authorization: `Bearer ${token}` }),
          ...headers,
        },
        body: body ? toJson(body) : null,
        // A redirect could send the signature to another server.
        redirect: 'manual',
        signal: signal ?? null,
      }),
    )
    if (!response.ok) throw await problemOf(response, request, token)
    ;({ status } = response)
    return await read(response)
  } catch (error) {
    if (error instanceof CountersignError) throw error
    // Any other error here means that the connection broke, so there is no
    // whole answer and no status.
    if (!(error instanceof SyntaxError)) status = undefined
    throw new ServerError({ request, status, code: Object(error).cause?.code })
  }
}

async function problemOf(
  response: Response,
  request: string,
  token: string | undefined,
): Promise<ProblemError | ServerError> {
  const { status, headers } = response
  // Hides the token and long hex: a foreign server could send back the token or
  // the signature, and the error would show it.
  const hide = (_: string, value: unknown) =>
    typeof value === 'string'
      ? value.replaceAll(token ?? '…', '…').replace(/[\da-f]{41,}/gi, '…')
      : value
  const body: unknown = await response
    .text()
    .then((text) => JSON.parse(text, hide))
    .catch(() => undefined)
  const { reason, detail, field } = Object(body)
  // Reads `Retry-After` as seconds: `countersign/http` never sends a date.
  const retryAfter = Number(headers.get('retry-after')) * 1_000 || undefined
  return typeof reason === 'string'
    ? new ProblemError({ reason, status, detail, field, retryAfter })
    : new ServerError({ request, status, retryAfter })
}
