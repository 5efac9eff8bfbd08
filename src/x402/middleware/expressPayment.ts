import { refuse } from '../gate/answers.js'
import type { X402Gate } from '../gate/types.js'
import { isPreflight } from '../wire/isPreflight.js'
import { type ExpressResponse, type HeaderValue, holdBack } from './holdBack.js'
import { toPreflightAnswer, withFront, withoutFront } from './inFront.js'
import { type BodyRequest, toBody } from './requestBody.js'

/** The part of an Express request that we use. */
type ExpressRequest = BodyRequest & {
  protocol: string
  /**
   * Host as Express reports it: from `X-Forwarded-Host` if the app trusts the
   * proxy.
   */
  host: string | undefined
  originalUrl: string
}

type Next = (error?: unknown) => void

/**
 * Middleware for Express 5 that sells the answers of the handlers behind it.
 *
 * Handlers find the payment in `response.locals.x402Payment`. A body parser may
 * stand in front of it or behind it. Without one in front, the gate reads the
 * body once there is a payment, up to its `mostRequestBytes`, and leaves it to
 * be read again.
 *
 * It collects the whole answer, up to the gate's `mostAnswerBytes`, before it
 * sends it. An offer with `stream` is collected and stored like others.
 *
 * A browser's preflight request reaches the handlers without payment. Of their
 * answer, only the headers for CORS are sent.
 *
 * Throws nothing itself: passes errors to Express, such as an
 * {@link InvalidFieldError} when the gate has no offer of this name, or when
 * something in front read the body and did not put it in `request.body`.
 *
 * @example
 * ```ts
 * import { expressPayment, type X402Gate } from 'countersign/x402'
 * import express from 'express'
 *
 * export function createApp(gate: X402Gate) {
 *   const app = express()
 *   app.get('/weather', expressPayment(gate, 'weather'), (_, response) => {
 *     response.json({ sky: 'clear' })
 *   })
 *   return app
 * }
 * ```
 */
export function expressPayment(
  gate: X402Gate,
  offer: string | readonly string[],
): (
  request: ExpressRequest,
  response: ExpressResponse,
  next: Next,
) => Promise<void> {
  return async (request, response, next) => {
    const inFront = headersOf(response.getHeaders())
    const held = holdBack(response, gate.mostAnswerBytes)
    let body: ReturnType<typeof toBody> | undefined
    try {
      body = toBody(request)
      const asked = toRequest(request, body.isLost ? 'lost' : body.content)
      // A request whose body was read makes the gate throw the error that says
      // what to change.
      if (body.isLost) await asked?.text()
      const { giveBack } = body
      const work = () => {
        giveBack()
        next()
        return held.begin()
      }
      const sell = async (request: Request) =>
        withFront(
          inFront,
          await gate.answer(request, {
            offer,
            stream: false,
            handler: async (_, payment) => {
              // The app declares the type of `locals`, which we do not know
              // here.
              const locals = Object(Reflect.get(response, 'locals'))
              locals.x402Payment = payment
              return withoutFront(inFront, await work())
            },
          }),
        )
      const answer = !asked
        ? withFront(inFront, refuse(400, 'malformed_request'))
        : isPreflight(asked)
          ? toPreflightAnswer(inFront, await work())
          : await sell(asked)
      const bytes = new Uint8Array(await answer.arrayBuffer())
      if (held.isAbandoned()) return
      held.release()
      send(response, answer, bytes)
      held.mute()
    } catch (error) {
      held.release()
      next(error)
    } finally {
      body?.discard()
    }
  }
}

function headersOf(given: Readonly<Record<string, HeaderValue>>): Headers {
  const headers = new Headers()
  for (const [name, value] of Object.entries(given))
    for (const one of [value ?? []].flat()) headers.append(name, String(one))
  return headers
}

/**
 * Builds a fetch `Request` with the same method and address. Returns
 * `undefined` if there is none: the `Host` is malformed, or the method is
 * `TRACE`.
 */
function toRequest(
  request: ExpressRequest,
  body: ReturnType<typeof toBody>['content'],
): Request | undefined {
  const { method } = request
  const headers = headersOf(request.headers)
  // A parsed body is written as JSON again, which may have another length.
  if (!(body instanceof ReadableStream)) headers.delete('content-length')
  const init = { method, headers, body, duplex: 'half' }
  try {
    return new Request(urlOf(request), init)
  } catch {
    return undefined
  }
}

/**
 * Builds the address of a request.
 *
 * @throws when its host is malformed.
 */
function urlOf({
  protocol,
  host,
  headers,
  originalUrl,
}: ExpressRequest): string {
  // A request to a proxy names a whole URL instead of a path. Its host then
  // replaces the header `Host` (RFC 9112), unless a trusted proxy has named
  // another.
  const [, , authority, path = originalUrl] =
    /^([a-z][a-z\d+.-]*):\/\/([^/?#]*)(.*)$/i.exec(originalUrl) ?? []
  const isOwn = host === headers.host
  const named = (isOwn ? authority : undefined) ?? host ?? 'localhost'
  if (/[\s/?#@\\]/.test(named)) throw new Error('malformed host')
  return `${protocol}://${named}${path.startsWith('/') ? '' : '/'}${path}`
}

/**
 * Headers that describe how the handlers' answer was sent in parts. We send it
 * as a whole.
 */
const framing: readonly string[] = ['content-length', 'transfer-encoding']

function send(
  response: ExpressResponse,
  answer: Response,
  body: Uint8Array,
): void {
  const { headers, status, statusText } = answer
  for (const name of framing) headers.delete(name)
  for (const name of Object.keys(response.getHeaders()))
    if (!headers.has(name) && name !== 'connection') response.removeHeader(name)
  response.statusCode = status
  // An empty text makes Node send the usual reason phrase.
  response.statusMessage = statusText
  for (const [name, value] of headers)
    if (name !== 'set-cookie') response.setHeader(name, value)
  const cookies = headers.getSetCookie()
  if (cookies.length > 0) response.setHeader('set-cookie', cookies)
  if (![204, 304].includes(status))
    response.setHeader('content-length', String(body.byteLength))
  response.end(body)
}
