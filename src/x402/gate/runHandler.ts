import { withoutCredentials } from '../wire/withoutCredentials.js'
import { isSignal } from './isSignal.js'
import { keepError, keepResponse } from './keptResponse.js'
import type {
  Finished,
  GateContext,
  KeptResponse,
  X402Handler,
  X402Payment,
} from './types.js'

/** A handler to run, with the request and payment that it gets. */
export type Work = {
  request: Request
  handler: X402Handler
  payment: X402Payment
  /** True to pass a successful answer on without storing it. */
  isStream: boolean
  /** Prepares a stream before it begins. If this fails, the handler failed. */
  begin?: ((response: Response) => Response | Promise<Response>) | undefined
}

type Gate = Pick<GateContext, 'context' | 'mostAnswerBytes'>

const tooLong: KeptResponse = /* @__PURE__ */ keepError(500, 'answer_too_long')

const workFailed: KeptResponse = /* @__PURE__ */ keepError(500, 'work_failed')

/** Thrown in place of an answer that is too long to be stored. */
export class AnswerTooLong extends Error {
  constructor(most: number) {
    super(`The answer is longer than mostAnswerBytes, ${most}.`)
  }
}

/**
 * Errors of handlers that a framework caught, by the response that it made of
 * the error.
 */
const caught: WeakMap<Response, unknown> = /* @__PURE__ */ new WeakMap()

/**
 * Remembers the error of a handler that a framework turned into this response,
 * so that the error can be reported.
 */
export function failBy(error: unknown, response: Response): Response {
  caught.set(response, error)
  return response
}

/**
 * Runs a handler and reads its answer. The handler counts as failed if it
 * throws, if its status is below 200 or at least 400, if its answer is too
 * long, or if the body breaks off before it is passed on. Reports failures to
 * `observe`.
 */
export async function runHandler(gate: Gate, work: Work): Promise<Finished> {
  const { request, handler, payment, isStream, begin } = work
  try {
    const response = await handler(request, payment)
    // `Response.error()` has status 0, which no server can send.
    if (response.status < 200) {
      report(gate, work, { status: response.status })
      return { kind: 'failed', response: workFailed }
    }
    const error = caught.get(response)
    if (error instanceof AnswerTooLong) throw error
    const isGood = response.status < 400
    if (isGood && isStream)
      return { kind: 'live', response: (await begin?.(response)) ?? response }
    const kept = await keepResponse(response, gate.mostAnswerBytes)
    if (!kept) throw new AnswerTooLong(gate.mostAnswerBytes)
    if (isGood) return { kind: 'good', response: kept }
    const facts = error === undefined ? {} : describe(error, request)
    report(gate, work, { status: response.status, ...facts })
    return { kind: 'failed', response: kept }
  } catch (thrown) {
    if (isSignal(thrown))
      return { kind: 'failed', response: workFailed, signal: { thrown } }
    if (thrown instanceof AnswerTooLong) {
      report(gate, work, { words: thrown.message })
      return { kind: 'failed', response: tooLong }
    }
    report(gate, work, describe(thrown, request))
    return { kind: 'failed', response: workFailed }
  }
}

/** Most characters of an error's message or stack to report. */
const mostText = 4_000

/**
 * Returns name, message and stack of the value that a handler threw, without
 * credentials.
 */
function describe(
  thrown: unknown,
  { headers }: Request,
): Readonly<Record<string, string>> {
  const { name, message, stack } =
    thrown instanceof Error
      ? thrown
      : { name: typeof thrown, message: textOf(thrown), stack: undefined }
  const safe = (text: string) =>
    withoutCredentials(text, headers).slice(0, mostText)
  return {
    error: safe(name),
    words: safe(message),
    ...(stack === undefined ? {} : { stack: safe(stack) }),
  }
}

function textOf(value: unknown): string {
  try {
    return typeof value === 'object' ? JSON.stringify(value) : String(value)
  } catch {
    return ''
  }
}

function report(
  { context }: Gate,
  { payment: { offer, orderId } }: Work,
  facts: Readonly<Record<string, string | number>>,
): void {
  const attributes = { ok: false, offer, orderId, ...facts }
  context.observe({ name: 'x402.handler', attributes })
}
