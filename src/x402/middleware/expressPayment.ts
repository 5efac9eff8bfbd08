import type { X402Gate } from '../gate/types.js'

type HeaderValue = string | number | readonly string[] | undefined

/** The part of an Express request that we use. */
type ExpressRequest = AsyncIterable<unknown> & {
  method: string
  protocol: string
  originalUrl: string
  headers: Readonly<Record<string, HeaderValue>>
  /** The result of a body parser in front of the gate. */
  body?: unknown
}

/** The part of an Express response that we use. */
type ExpressResponse = {
  statusCode: number
  getHeaders(): Readonly<Record<string, HeaderValue>>
  removeHeader(name: string): void
  setHeader(name: string, value: string | readonly string[]): unknown
  end(body: Uint8Array): unknown
}

type Next = (error?: unknown) => void

/**
 * Middleware for Express 5 that sells the answers of the handlers behind it.
 *
 * Mount a body parser in front of it. Otherwise it reads the body itself and
 * puts the bytes into `request.body`.
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
    const held = holdBack(response)
    try {
      const answer = await gate.answer(await toRequest(request), {
        offer,
        handler: () => {
          next()
          return held.answer
        },
      })
      const body = new Uint8Array(await answer.arrayBuffer())
      held.release()
      send(response, answer, body)
    } catch (error) {
      held.release()
      next(error)
    }
  }
}

/** A request of the fetch standard with the same method, address and body. */
async function toRequest(request: ExpressRequest): Promise<Request> {
  const { method, protocol, originalUrl, headers: given } = request
  const headers = new Headers()
  for (const [name, value] of Object.entries(given))
    for (const one of [value ?? []].flat()) headers.append(name, String(one))
  const url = `${protocol}://${headers.get('host') ?? 'localhost'}${originalUrl}`
  if (method === 'GET' || method === 'HEAD')
    return new Request(url, { method, headers })
  const isSent =
    headers.has('transfer-encoding') || Number(headers.get('content-length'))
  if (request.body === undefined && isSent)
    request.body = await readAll(request)
  const { body } = request
  // With a body parser, its result replaces the body.
  const bytes =
    body instanceof Uint8Array ? new Uint8Array(body) : JSON.stringify(body)
  headers.delete('content-length')
  return new Request(url, { method, headers, body: bytes ?? null })
}

async function readAll(chunks: AsyncIterable<unknown>): Promise<Uint8Array> {
  const parts: BlobPart[] = []
  for await (const chunk of chunks) parts.push(toPart(chunk))
  return new Uint8Array(await new Blob(parts).arrayBuffer())
}

function toPart(chunk: unknown): BlobPart {
  return chunk instanceof Uint8Array ? new Uint8Array(chunk) : String(chunk)
}

const patched = ['write', 'end', 'writeHead', 'flushHeaders'] as const

/**
 * Collects what handlers write, instead of sending it. `release` makes the
 * response send again.
 */
function holdBack(response: ExpressResponse): {
  answer: Promise<Response>
  release(): void
} {
  const parts: BlobPart[] = []
  const originals = patched.map((name) => Reflect.get(response, name))
  const keep = (chunk: unknown) => {
    const isData = typeof chunk === 'string' || chunk instanceof Uint8Array
    if (isData) parts.push(toPart(chunk))
  }
  const answer = new Promise<Response>((resolve, reject) => {
    const replacements = {
      write: (chunk: unknown) => {
        keep(chunk)
        return true
      },
      end: (chunk: unknown) => {
        keep(chunk)
        toResponse(response, parts).then(resolve, reject)
        return response
      },
      writeHead: (status: number, ...rest: unknown[]) => {
        response.statusCode = status
        for (const [name, value] of Object.entries(Object(rest.at(-1))))
          response.setHeader(name, String(value))
        return response
      },
      flushHeaders: () => undefined,
    }
    for (const name of patched) Reflect.set(response, name, replacements[name])
  })
  return {
    answer,
    release: () => {
      for (const [index, name] of patched.entries())
        Reflect.set(response, name, originals[index])
    },
  }
}

async function toResponse(
  response: ExpressResponse,
  parts: readonly BlobPart[],
): Promise<Response> {
  const headers = new Headers()
  for (const [name, value] of Object.entries(response.getHeaders()))
    for (const one of [value ?? []].flat()) headers.append(name, String(one))
  const body = await new Blob([...parts]).arrayBuffer()
  const { statusCode: status } = response
  const isEmpty = [204, 205, 304].includes(status)
  return new Response(isEmpty ? null : body, { status, headers })
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
