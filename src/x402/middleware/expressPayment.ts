import { InvalidFieldError } from '../../core/errors.js'
import { refuse } from '../gate/answers.js'
import { AnswerTooLong, failBy } from '../gate/runHandler.js'
import type { X402Gate } from '../gate/types.js'
import { isFramingField } from '../wire/isFramingField.js'
import { isPreflight } from '../wire/isPreflight.js'
import { type ExpressResponse, holdBack } from './holdBack.js'
import { toPreflightAnswer, withFront, withoutFront } from './inFront.js'
import { type BodyRequest, toBody } from './requestBody.js'
import { type HeaderValue, isHeadSent } from './twinOf.js'

/** The part of an Express request that this middleware uses. */
type ExpressRequest = BodyRequest & {
  protocol: string
  /**
   * Host as Express reports it. If the app trusts its proxy, this is
   * `X-Forwarded-Host`.
   */
  host: string | undefined
  originalUrl: string
}

type Next = (error?: unknown) => void

/**
 * Middleware for Express 5 that sells the answers of the handlers after it.
 *
 * Handlers find the payment in `response.locals.x402Payment`. A body parser may
 * come before or after this middleware. If none comes before, a paid request's
 * body is read up to the gate's `mostRequestBytes`, and can be read again by
 * the handlers.
 *
 * The whole answer is collected, up to the gate's `mostAnswerBytes`, before it
 * is sent. An offer with `stream` is collected and stored like others.
 *
 * A browser's CORS preflight request reaches the handlers without payment. Only
 * the CORS headers of their answer are sent.
 *
 * Errors are passed to Express and not thrown, such as an {@link
 * InvalidFieldError} when the gate has no offer of this name, or when earlier
 * middleware read the body and did not put it in `request.body`, or wrote the
 * head of the answer.
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
    if (isHeadSent(response))
      return next(
        new InvalidFieldError(
          'response',
          response,
          'a response whose head is not written',
          'Put the gate before any middleware that writes the head.',
        ),
      )
    const inFront = headersOf(response.getHeaders())
    const held = holdBack(response, gate.mostAnswerBytes)
    let body: ReturnType<typeof toBody> | undefined
    try {
      body = toBody(request)
      const asked = toRequest(request, body.isLost ? 'lost' : body.content)
      // If the body was already read and lost, reading it here makes the gate
      // throw the error that says what to change.
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
              // Set without types, because the app declares the type of
              // `locals`.
              const locals = Object(Reflect.get(response, 'locals'))
              locals.x402Payment = payment
              const own = withoutFront(inFront, await work())
              return held.isTooLong()
                ? failBy(new AnswerTooLong(gate.mostAnswerBytes), own)
                : own
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
      send(response, answer, bytes, request.method)
      held.mute()
    } catch (error) {
      held.release()
      // Node refuses this header together with the length of an error page.
      if (!isHeadSent(response)) response.removeHeader('trailer')
      next(error)
    } finally {
      body?.discard()
    }
  }
}

function headersOf(given: Readonly<Record<string, HeaderValue>>): Headers {
  const headers = new Headers()
  for (const [name, value] of Object.entries(given))
    for (const one of [value].flat()) headers.append(name, String(one))
  return headers
}

/**
 * Builds a fetch `Request` with the same method and URL. Returns `undefined` if
 * that is impossible, because the `Host` is malformed or the method is `TRACE`.
 */
function toRequest(
  request: ExpressRequest,
  body: ReturnType<typeof toBody>['content'],
): Request | undefined {
  const { method } = request
  const headers = headersOf(request.headers)
  // A parsed body is turned into JSON again, which may be longer or shorter.
  if (!(body instanceof ReadableStream)) headers.delete('content-length')
  const init = { method, headers, body, duplex: 'half' }
  try {
    return new Request(urlOf(request), init)
  } catch {
    return undefined
  }
}

/**
 * Builds the URL of a request.
 *
 * @throws when its host is malformed.
 */
function urlOf({
  protocol,
  host,
  headers,
  originalUrl,
}: ExpressRequest): string {
  // A request to a proxy contains a whole URL instead of a path. By RFC 9112,
  // its host then replaces the `Host` header, unless a trusted proxy has set
  // another one.
  const [, , authority, path = originalUrl] =
    /^([a-z][a-z\d+.-]*):\/\/([^/?#]*)(.*)$/i.exec(originalUrl) ?? []
  const isOwn = host === headers.host
  const named = (isOwn ? authority : undefined) ?? host ?? 'localhost'
  if (/[\s/?#@\\]/.test(named)) throw new Error('malformed host')
  return `${protocol}://${named}${path.startsWith('/') ? '' : '/'}${path}`
}

/**
 * Sends a complete answer. Drops the headers by which the handlers framed its
 * body, so that Node sets those that fit the bytes.
 */
function send(
  response: ExpressResponse,
  answer: Response,
  body: Uint8Array,
  method: string,
): void {
  const { headers, status, statusText } = answer
  for (const name of Object.keys(response.getHeaders()))
    if (name !== 'connection' && (isFramingField(name) || !headers.has(name)))
      response.removeHeader(name)
  // After these headers were removed, Node chooses no framing by itself, unless
  // it forgets that they were.
  for (const name of ['_removedContLen', '_removedTE'])
    Reflect.set(response, name, false)
  response.statusCode = status
  // With an empty text, Node sends the usual reason phrase of the status.
  response.statusMessage = statusText
  for (const [name, value] of headers)
    if (name !== 'set-cookie' && !isFramingField(name))
      response.setHeader(name, value)
  const cookies = headers.getSetCookie()
  if (cookies.length > 0) response.setHeader('set-cookie', cookies)
  // Node can be told to refuse a body, even an empty one, where none is allowed.
  if (body.byteLength === 0) response.end()
  else if (method !== 'HEAD') response.end(body)
  else {
    response.setHeader('content-length', String(body.byteLength))
    response.end()
  }
}
