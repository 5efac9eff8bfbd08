import { CountersignError } from '../core/CountersignError.js'
import { growingPause, keepTrying } from '../core/keepTrying.js'
import { endOnAbort } from '../core/onAbort.js'
import { toJson } from '../core/toJson.js'
import { ProblemError, ServerError } from './errors.js'
import type { Line } from './line.js'
import { readText } from './readPieces.js'

export type ClientFailure = ProblemError | ServerError

export type Asking = {
  /** Path of the request below the client's `url`, with its query. */
  path: string
  /** Body of the request, sent as JSON. With a body, the request is a POST. */
  body?: object | undefined
  headers?: Record<string, string> | undefined
  signal?: AbortSignal | undefined
}

/**
 * Decides about the next try. Gets the milliseconds that the client would wait.
 * Returns the milliseconds to wait instead, or `undefined` to stop trying.
 */
export type Pacing = (
  pause: number,
  failure: ClientFailure,
) => number | undefined

/**
 * Milliseconds after which a request without an answer fails. It is longer than
 * the 30 s after which the server itself ends a request.
 */
export const longestTry = 40_000

/**
 * Limits of the milliseconds between two tries. If the server's `Retry-After`
 * asks for more than `longest`, the request fails at once.
 */
export const pauses = { shortest: 300, longest: 5_000 }

/**
 * Sends a request, reads its JSON answer, and retries after transient failures.
 *
 * @throws {@link ProblemError} when the server refuses the request.
 * @throws {@link ServerError} when the server gives no answer.
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
    return askOnce<answer>(line, asked, readJson)
  }
  return repeat(line, signal, work, pacing)
}

/**
 * Runs `work`, which calls {@link askOnce}, again after each transient failure,
 * at most as often as the client's `retries` says.
 */
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

/** Returns a signal that aborts when one of the two given signals does. */
export function either(
  signal: AbortSignal | undefined,
  other: AbortSignal,
): AbortSignal {
  return signal ? AbortSignal.any([signal, other]) : other
}

/**
 * Returns the milliseconds until the next try; `undefined` if a retry is
 * useless.
 */
export function pauseOf(error: unknown, failures: number): number | undefined {
  const { retryable, retryAfter } = Object(error)
  return retryable ? (retryAfter ?? growingPause(failures, pauses)) : undefined
}

/**
 * Sends one request and reads its answer, without a retry.
 *
 * @throws {@link ProblemError} when the server refuses the request.
 * @throws {@link ServerError} when the server gives no answer.
 */
export async function askOnce<answer>(
  { url, token, fetch }: Line,
  { path, body, headers, signal }: Asking,
  read: (
    response: Response,
    signal: AbortSignal | undefined,
  ) => Promise<answer> | answer,
): Promise<answer> {
  const method = body ? 'POST' : 'GET'
  const request = `${method} ${url}${path}`
  let status: number | undefined
  const exchange = async () => {
    const response = await fetch(
      new Request(url + path, {
        method,
        headers: {
          ...(body && { 'content-type': 'application/json' }),
          ...(token && { authorization: `Bearer ${token}` }),
          ...headers,
        },
        body: body ? toJson(body) : null,
        // Follows no redirect: it could send the signature to another server.
        redirect: 'manual',
        signal: signal ?? null,
      }),
    )
    if (!response.ok) throw await problemOf(response, request, token, signal)
    ;({ status } = response)
    return read(response, signal)
  }
  try {
    return await endOnAbort(exchange(), signal)
  } catch (error) {
    if (error instanceof CountersignError) throw error
    // Any error but a malformed answer means that the connection broke. Then
    // the status says nothing, because the answer is not complete.
    if (!(error instanceof SyntaxError)) status = undefined
    throw new ServerError({ request, status, code: Object(error).cause?.code })
  }
}

/**
 * Runs `read`, which takes an answer apart.
 *
 * @throws {@link ServerError} when that fails: the answer is then not from
 * `countersign/http`.
 */
export function readAnswer<value>(
  { url }: Line,
  path: string,
  read: () => value,
): value {
  try {
    return read()
  } catch {
    throw new ServerError({ request: `GET ${url}${path}`, status: 200 })
  }
}

/**
 * Returns the object that a text of JSON describes.
 *
 * @throws a `SyntaxError` for anything else: the server sends only objects.
 */
export function parseAnswer<answer>(text: string): answer {
  const value = JSON.parse(text)
  if (Object(value) !== value) throw new SyntaxError()
  return value
}

async function readJson<answer>(
  response: Response,
  signal: AbortSignal | undefined,
): Promise<answer> {
  return parseAnswer(await readText(response, signal))
}

async function problemOf(
  response: Response,
  request: string,
  token: string | undefined,
  signal: AbortSignal | undefined,
): Promise<ProblemError | ServerError> {
  const { status, headers } = response
  // Removes the token and long hex from the answer. Another server could send
  // back the token or the signature, and the error would show it.
  const hide = (_: string, value: unknown) =>
    typeof value === 'string'
      ? value.replaceAll(token ?? '…', '…').replace(/[\da-f]{41,}/gi, '…')
      : value
  const body: unknown = await readText(response, signal)
    .then((text) => JSON.parse(text, hide))
    .catch(() => undefined)
  const { reason, detail, field } = Object(body)
  // Reads `Retry-After` as seconds, because `countersign/http` never sends a
  // date.
  const seconds = Number(headers.get('retry-after'))
  const retryAfter = seconds > 0 ? seconds * 1_000 : undefined
  return typeof reason === 'string'
    ? new ProblemError({ reason, status, detail, field, retryAfter })
    : new ServerError({ request, status, retryAfter })
}
