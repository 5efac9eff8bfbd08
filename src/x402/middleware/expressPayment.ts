import { refuse } from '../gate/answers.js'
import type { X402Gate } from '../gate/types.js'
import { type ExpressResponse, type HeaderValue, holdBack } from './holdBack.js'
import { keepCors } from './keepCors.js'

/** The part of an Express request that we use. */
type ExpressRequest = {
  method: string
  protocol: string
  originalUrl: string
  headers: Readonly<Record<string, HeaderValue>>
  /** The result of a body parser in front of the gate. */
  body?: unknown
  iterator(options: { destroyOnReturn: boolean }): AsyncIterator<unknown>
  resume(): unknown
}

type Next = (error?: unknown) => void

/**
 * Middleware for Express 5 that sells the answers of the handlers behind it.
 *
 * Mount a body parser in front of it. Otherwise it reads the body itself, once
 * there is a payment and up to the gate's `mostRequestBytes`, and puts the bytes
 * into `request.body`.
 *
 * It collects the whole answer, up to the gate's `mostAnswerBytes`, before it
 * sends it. An offer that streams is kept like others.
 *
 * Throws nothing itself: passes errors to Express, such as an
 * {@link InvalidFieldError} when the gate has no such offer.
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
    const inFront = Object.entries(response.getHeaders())
    const held = holdBack(response, gate.mostAnswerBytes)
    const body = toBody(request)
    try {
      const asked = toRequest(request, body.content)
      if (!asked) {
        held.release()
        const refusal = refuse(400, 'malformed_request')
        return send(response, refusal, await bytesOf(refusal))
      }
      const answer = await gate.answer(asked, {
        offer,
        stream: false,
        handler: async (paid) => {
          if (body.isUnread)
            request.body = new Uint8Array(await paid.arrayBuffer())
          next()
          return held.begin()
        },
      })
      keepCors(inFront, answer)
      const bytes = await bytesOf(answer)
      if (held.isAbandoned()) return
      held.release()
      send(response, answer, bytes)
    } catch (error) {
      held.release()
      next(error)
    } finally {
      body.discard()
    }
  }
}

/**
 * A request of the fetch standard with the same method and address. `undefined`
 * when it cannot be one: its `Host` is malformed, or its method is `TRACE`.
 */
function toRequest(
  { method, protocol, originalUrl, headers: given }: ExpressRequest,
  body: RequestBody['content'],
): Request | undefined {
  const headers = new Headers()
  for (const [name, value] of Object.entries(given))
    for (const one of [value ?? []].flat()) headers.append(name, String(one))
  const url = `${protocol}://${headers.get('host') ?? 'localhost'}${originalUrl}`
  // A body that was parsed may have another length.
  if (!(body instanceof ReadableStream)) headers.delete('content-length')
  const init = { method, headers, body, duplex: 'half' }
  try {
    return new Request(url, init)
  } catch {
    return undefined
  }
}

async function bytesOf(answer: Response): Promise<Uint8Array> {
  return new Uint8Array(await answer.arrayBuffer())
}

type RequestBody = {
  content: Uint8Array<ArrayBuffer> | string | ReadableStream | null
  /** True if no parser in front of the gate has read the body. */
  isUnread: boolean
  /** Reads the rest and drops it, so that the connection can go on. */
  discard(): void
}

/** The body of a request. Nothing is read before the gate reads it. */
function toBody(request: ExpressRequest): RequestBody {
  const { method, headers, body } = request
  const read = (content: RequestBody['content']): RequestBody => ({
    content,
    isUnread: false,
    discard: () => undefined,
  })
  if (method === 'GET' || method === 'HEAD') return read(null)
  // A body parser has consumed the body, so its result takes that place.
  if (body instanceof Uint8Array) return read(new Uint8Array(body))
  if (body !== undefined) return read(JSON.stringify(body) ?? null)
  const isSent =
    headers['transfer-encoding'] !== undefined ||
    Number(headers['content-length']) > 0
  return isSent ? toUnread(request) : read(null)
}

function toUnread(request: ExpressRequest): RequestBody {
  // The end of an iteration must not close the connection before the answer.
  let chunks: AsyncIterator<unknown> | undefined
  const pull = async (controller: ReadableStreamDefaultController) => {
    chunks ??= request.iterator({ destroyOnReturn: false })
    const { done, value } = await chunks.next()
    if (done) controller.close()
    else
      controller.enqueue(
        value instanceof Uint8Array
          ? value
          : new TextEncoder().encode(String(value)),
      )
  }
  return {
    content: new ReadableStream({ pull }, { highWaterMark: 0 }),
    isUnread: true,
    discard: () => {
      // A request that nobody began to read is dropped by Node.
      const ended = chunks?.return?.().catch(() => undefined)
      ended?.then(() => request.resume())
    },
  }
}

function send(
  response: ExpressResponse,
  answer: Response,
  body: Uint8Array,
): void {
  for (const name of Object.keys(response.getHeaders()))
    response.removeHeader(name)
  response.statusCode = answer.status
  for (const [name, value] of answer.headers)
    if (name !== 'set-cookie') response.setHeader(name, value)
  const cookies = answer.headers.getSetCookie()
  if (cookies.length > 0) response.setHeader('set-cookie', cookies)
  response.end(body)
}
