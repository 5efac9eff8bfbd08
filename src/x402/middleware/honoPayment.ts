import { failBy } from '../gate/runHandler.js'
import type { X402Gate, X402Payment } from '../gate/types.js'
import { isPreflight } from '../wire/isPreflight.js'
import { toPreflightAnswer, withFront, withoutFront } from './inFront.js'

/** The part of a Hono context that this middleware uses. */
type HonoContext = {
  req: {
    raw: Request
    /**
     * The body if it was read before. The key is the method that read it, such
     * as `json`.
     */
    bodyCache: object
    arrayBuffer(): Promise<ArrayBuffer>
    formData(): Promise<FormData>
  }
  /** The error that a handler threw and Hono caught. */
  error: Error | undefined
  newResponse(body: null): Response
  set: (name: never, value: never) => void
  /** Of Node's server, with the request in `incoming`. */
  env: unknown
  get res(): Response
  set res(response: Response | undefined)
}

/** The variables that {@link honoPayment} sets. */
export type X402Variables = {
  /** The payment for which the handler runs. */
  x402Payment: X402Payment
}

/**
 * Middleware for Hono that sells the answers of the handlers after it.
 *
 * Handlers find the payment in the variable `x402Payment`. Validators and other
 * earlier middleware may read the body through the methods of `context.req`.
 *
 * A browser's CORS preflight request reaches the handlers without payment. Only
 * the CORS headers of their answer are sent.
 *
 * @throws {@link InvalidFieldError} at a request, when the gate has no offer of
 * this name, or when the body was read from `context.req.raw`.
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
    // A new response shows the headers that earlier middleware has set.
    // `context.res` shows them too, but reading it creates a response, and Hono
    // then merges headers differently.
    const inFront = new Headers(context.newResponse(null).headers)
    if (isPreflight(context.req.raw)) {
      await next()
      const { res } = context
      replace(context, toPreflightAnswer(inFront, res))
      await res.body?.cancel()
      return
    }
    const answer = await gate.answer(await toUnread(context), {
      offer,
      handler: async (_, payment) => {
        Reflect.apply(context.set, context, ['x402Payment', payment])
        await next()
        const own = withoutFront(inFront, context.res)
        return context.error ? failBy(context.error, own) : own
      },
    })
    const shown = withFront(inFront, answer)
    replace(context, isHttp2(context) ? unmarked(shown) : shown)
  }
}

function isHttp2({ env }: HonoContext): boolean {
  return Object(Object(env).incoming).httpVersionMajor >= 2
}

/**
 * Leaves out the header that marks a stream: Node's HTTP/2 server throws at it,
 * which would end the process.
 */
function unmarked(response: Response): Response {
  if (!response.headers.has('transfer-encoding')) return response
  const copy = new Response(response.body, response)
  copy.headers.delete('transfer-encoding')
  return copy
}

/**
 * Replaces the response. Without setting `undefined` first, Hono would add the
 * headers of the old response to the new one.
 */
function replace(context: HonoContext, response: Response): void {
  context.res = undefined
  context.res = response
}

/**
 * Returns the request with a body that can be read. If earlier middleware has
 * read the body, takes it from what Hono kept.
 */
async function toUnread({ req }: HonoContext): Promise<Request> {
  const { raw, bodyCache } = req
  if (!raw.bodyUsed || Object.keys(bodyCache).length === 0) return raw
  const { method, signal, url } = raw
  const headers = new Headers(raw.headers)
  headers.delete('content-length')
  const body = await readAgain(req)
  return new Request(url, { method, headers, body, signal })
}

/**
 * Returns a body that Hono has read before. Equal bodies must give equal bytes,
 * because a payment is bound to their hash.
 */
async function readAgain(
  req: HonoContext['req'],
): Promise<ArrayBuffer | string> {
  const [readBy, ...others] = Object.keys(req.bodyCache)
  if (readBy !== 'formData' || others.length > 0) return req.arrayBuffer()
  const form = new Response(await req.formData())
  const type = form.headers.get('content-type') ?? ''
  // Each time a form is encoded, it gets a new random boundary, which would
  // change the hash. Replaces it by a fixed one.
  const [, boundary = ''] = /boundary="?([^";]+)/.exec(type) ?? []
  const text = new TextDecoder('latin1').decode(await form.arrayBuffer())
  return boundary ? text.replaceAll(boundary, 'boundary') : text
}
