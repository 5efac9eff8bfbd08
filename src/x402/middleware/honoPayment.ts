import type { X402Gate } from '../gate/types.js'
import { keepCors } from './keepCors.js'

/** The part of a Hono context that we use. */
type HonoContext = {
  req: { raw: Request }
  get res(): Response
  set res(response: Response | undefined)
}

/**
 * Middleware for Hono that sells the answers of the handlers behind it.
 *
 * @throws {@link InvalidFieldError} at a request, when the gate has no such
 * offer.
 *
 * @example
 * ```ts
 * import { honoPayment, type X402Gate } from 'countersign/x402'
 * import { Hono } from 'hono'
 *
 * export function createApp(gate: X402Gate) {
 *   const app = new Hono()
 *   app.use('/weather', honoPayment(gate, 'weather'))
 *   app.get('/weather', (context) => context.json({ sky: 'clear' }))
 *   return app
 * }
 * ```
 */
export function honoPayment(
  gate: X402Gate,
  offer: string | readonly string[],
): (context: HonoContext, next: () => Promise<void>) => Promise<void> {
  return async (context, next) => {
    const inFront = [...context.res.headers]
    const answer = await gate.answer(context.req.raw, {
      offer,
      handler: async () => {
        await next()
        return context.res
      },
    })
    keepCors(inFront, answer)
    // Hono would merge the headers of the answer into those it has.
    context.res = undefined
    context.res = answer
  }
}
