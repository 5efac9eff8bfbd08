import { withoutCredentials } from '../wire/withoutCredentials.js'
import { isSignal } from './isSignal.js'
import { jsonResponse, keepResponse } from './keptResponse.js'
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
  /**
   * True to pass a good answer on without storing it. Needs a captured payment.
   */
  isStream: boolean
}

type Gate = Pick<GateContext, 'context' | 'mostAnswerBytes'>

const tooLong: KeptResponse = /* @__PURE__ */ jsonResponse(500, {
  error: 'answer_too_long',
})

const workFailed: KeptResponse = /* @__PURE__ */ jsonResponse(500, {
  error: 'work_failed',
})

/**
 * The errors that frameworks caught from handlers, by the response they made of
 * it.
 */
const caught: WeakMap<Response, unknown> = /* @__PURE__ */ new WeakMap()

/**
 * Remembers which error of a handler its framework turned into this response,
 * so that the error can be reported.
 */
export function failBy(error: unknown, response: Response): Response {
  caught.set(response, error)
  return response
}

/**
 * Runs a handler and reads its answer. The work counts as failed if the handler
 * threw, if the status is below 200 or from 400 on, if the answer is too long,
 * or if its body broke off. Reports failures to `observe`.
 */
export async function runHandler(gate: Gate, work: Work): Promise<Finished> {
  const { request, handler, payment, isStream } = work
  try {
    const response = await handler(request, payment)
    // `Response.error()` has status 0, which no server can send.
    if (response.status < 200) {
      report(gate, work, { status: response.status })
      return { kind: 'failed', response: workFailed }
    }
    const isGood = response.status < 400
    const { transaction } = payment
    if (isGood && isStream && transaction)
      return { kind: 'live', response, transaction }
    const kept = await keepResponse(response, gate.mostAnswerBytes)
    if (!kept) {
      const words = `The answer is longer than mostAnswerBytes, ${gate.mostAnswerBytes}.`
      report(gate, work, { words })
      return { kind: 'failed', response: tooLong }
    }
    if (isGood) return { kind: 'good', response: kept }
    const error = caught.get(response)
    const facts = error === undefined ? {} : describe(error, request)
    report(gate, work, { status: response.status, ...facts })
    return { kind: 'failed', response: kept }
  } catch (thrown) {
    if (isSignal(thrown))
      return { kind: 'failed', response: workFailed, signal: { thrown } }
    report(gate, work, describe(thrown, request))
    return { kind: 'failed', response: workFailed }
  }
}

/** Most characters of a message or a stack that are reported. */
const mostText = 4_000

/** Name, message and stack of what a handler threw, without credentials. */
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
