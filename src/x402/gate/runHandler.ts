import { jsonResponse, keepResponse } from './keptResponse.js'
import type {
  Finished,
  GateDesk,
  KeptResponse,
  X402Handler,
  X402Payment,
} from './types.js'

/** A handler to run. */
export type Work = {
  request: Request
  handler: X402Handler
  payment: X402Payment
  /** True to pass a good answer on unread, once the payment is captured. */
  isStream: boolean
}

const tooLong: KeptResponse = /* @__PURE__ */ jsonResponse(500, {
  error: 'answer_too_long',
})

const workFailed: KeptResponse = /* @__PURE__ */ jsonResponse(500, {
  error: 'work_failed',
})

/**
 * Runs a handler and reads its answer. The work failed if the handler threw,
 * answered below 200 or from 400 on, answered too long, or if the body broke
 * off.
 */
export async function runHandler(
  desk: Pick<GateDesk, 'context' | 'mostAnswerBytes'>,
  { request, handler, payment, isStream }: Work,
): Promise<Finished> {
  try {
    const response = await handler(request, payment)
    // `Response.error()` has status 0. It cannot be given to a client.
    if (response.status < 200) return failWork(desk, payment)
    const isGood = response.status < 400
    const { transaction } = payment
    if (isGood && isStream && transaction)
      return { kind: 'live', response, transaction }
    const kept = await keepResponse(response, desk.mostAnswerBytes)
    return {
      kind: isGood && kept ? 'good' : 'failed',
      response: kept ?? tooLong,
    }
  } catch {
    // The error is dropped, because its text may contain secrets.
    return failWork(desk, payment)
  }
}

function failWork(
  { context }: Pick<GateDesk, 'context'>,
  { offer }: X402Payment,
): Finished {
  context.observe({ name: 'x402.handler', attributes: { ok: false, offer } })
  return { kind: 'failed', response: workFailed }
}
