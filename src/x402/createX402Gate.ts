import { CountersignError } from '../core/CountersignError.js'
import { errorName } from '../core/errorName.js'
import { InvalidFieldError } from '../core/errors.js'
import { loadOnce } from '../core/loadOnce.js'
import { answerRequest } from './gate/answerRequest.js'
import { refuse } from './gate/answers.js'
import { isSignal } from './gate/isSignal.js'
import { createLiveness } from './gate/liveness.js'
import { openGate } from './gate/openGate.js'
import { errorOf } from './gate/ownAnswers.js'
import { parseGate } from './gate/parseGate.js'
import { startCleaning } from './gate/removeOld.js'
import type {
  AnswerParameters,
  LoadChannelFlow,
  X402Gate,
  X402GateParameters,
  X402Payment,
} from './gate/types.js'

/**
 * Stands in front of fetch handlers and sells each answer over x402 (version 2,
 * schemes exact and batch-settlement, EIP-3009), so that every x402 client can
 * pay.
 *
 * One payment buys one thing: it is bound to offer, method, resource and body.
 * The handler runs at most once for it, unless it failed or the offer is
 * `repeatable`. The same request with the same payment gets the same answer,
 * also after a crash. A client that signs again pays again.
 *
 * Only one database may take x402 payments for a recipient: two would sell
 * twice for the same payment.
 *
 * @throws {@link InvalidFieldError} when a parameter is malformed.
 *
 * @example
 * ```ts
 * import type { Orders } from 'countersign/orders'
 * import { createX402Gate } from 'countersign/x402'
 *
 * export function sellWeather(orders: Orders) {
 *   const gate = createX402Gate({
 *     orders,
 *     offers: { weather: { amount: '0.01', description: 'The weather' } },
 *   })
 *   return gate.protect('weather', () => Response.json({ sky: 'clear' }))
 * }
 * ```
 */
export function createX402Gate(parameters: X402GateParameters): X402Gate {
  const gate = parseGate(parameters, loadChannelFlow)
  const tools = { gate, liveness: createLiveness(gate) }
  const open = loadOnce(() => openGate(gate))
  const sell = async (
    request: Request,
    given: AnswerParameters,
  ): Promise<Response> => {
    const start = performance.now()
    let fault: { error: string; words?: string } | undefined
    try {
      await open()
      startCleaning(gate)
      return await gate.instance.hold(answerRequest(tools, request, given))
    } catch (caught) {
      if (isSignal(caught)) throw caught
      fault = describe(caught)
      // The program passed a wrong value. The error is thrown, so that the
      // programmer sees it; a 503 answer would hide it.
      if (caught instanceof InvalidFieldError) throw caught
      return refuse(503, 'unavailable')
    } finally {
      gate.context.observe({
        name: 'x402.answer',
        duration: performance.now() - start,
        attributes: { ok: fault === undefined, ...fault },
      })
    }
  }
  const answer: X402Gate['answer'] = (request, given) => {
    const { paywall, orders, resource, keepFor } = gate
    if (!paywall) return sell(request, given)
    // A paywall may pass a request with the payment added. The handler gets the
    // original request, with everything that its server added to it.
    const { handler } = given
    const own = (_: Request, payment: X402Payment) => handler(request, payment)
    return paywall(request, {
      orders,
      resource,
      keepFor,
      errorOf,
      sell: (asked) => sell(asked, { ...given, handler: own }),
    })
  }
  return {
    mostAnswerBytes: gate.mostAnswerBytes,
    claimRecipients: open,
    answer,
    protect: (offer, handler) => (request) =>
      answer(request, { offer, handler }),
  }
}

/** Loaded when it is needed: programs that sell without channels are lighter. */
const loadChannelFlow: LoadChannelFlow = async (channels) => {
  const { openChannelFlow } = await import('./channel/openChannelFlow.js')
  return openChannelFlow(channels)
}

/**
 * Describes an error without its message, unless the error is this library's
 * own: the message could quote a secret.
 */
function describe(error: unknown): { error: string; words?: string } {
  return error instanceof CountersignError
    ? { error: error.name, words: error.message }
    : { error: errorName(error) }
}
