import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import express, {
  type ErrorRequestHandler,
  type RequestHandler,
  type Response,
} from 'express'
import type { AskedRequest } from './answerCompare.js'

const file = fileURLToPath(new URL('../../../LICENSE', import.meta.url))
const bytes = Buffer.from([0, 1, 127, 128, 200, 255])

/** Calls back before the head is written, as the package on-headers does. */
function onHead(response: Response, work: () => void): void {
  const { writeHead } = response
  let isDone = false
  response.writeHead = (...given: unknown[]) => {
    if (!isDone) {
      isDone = true
      work()
    }
    return Reflect.apply(writeHead, response, given)
  }
}

/** Compresses what is written, as the package compression does. */
const compress: RequestHandler = (request, response, next) => {
  if (!/gzip/.test(request.headers['accept-encoding'] ?? '')) return next()
  const { end } = response
  const parts: Buffer[] = []
  let hasEnded = false
  const add = (chunk: unknown, encoding: unknown) => {
    if (!chunk || typeof chunk === 'function') return
    const named = typeof encoding === 'string' ? encoding : 'utf8'
    parts.push(
      typeof chunk === 'string'
        ? Buffer.from(chunk, named as BufferEncoding)
        : Buffer.from(chunk as Uint8Array),
    )
  }
  onHead(response, () => {
    if ([204, 304].includes(response.statusCode)) return
    response.vary('Accept-Encoding')
    response.setHeader('content-encoding', 'gzip')
    response.removeHeader('content-length')
  })
  response.write = (chunk: unknown, ...rest: unknown[]) => {
    if (!response.headersSent) response.writeHead(response.statusCode)
    add(chunk, rest[0])
    const callback = rest.at(-1)
    if (typeof callback === 'function') process.nextTick(callback)
    return true
  }
  response.end = (chunk: unknown, ...rest: unknown[]) => {
    if (hasEnded) return response
    hasEnded = true
    if (!response.headersSent) response.writeHead(response.statusCode)
    add(chunk, rest[0])
    const isEmpty = [204, 304].includes(response.statusCode)
    const all = isEmpty ? undefined : gzipSync(Buffer.concat(parts))
    return Reflect.apply(end, response, [all])
  }
  next()
}

/** Ends later than it is told to, and adds a cookie, as sessions do. */
const session: RequestHandler = (_, response, next) => {
  const { end } = response
  let isEnding = false
  onHead(response, () => {
    response.append('set-cookie', 'session=1; HttpOnly')
  })
  response.end = (...given: unknown[]) => {
    if (isEnding) return response
    isEnding = true
    setImmediate(() => Reflect.apply(end, response, given))
    return response
  }
  next()
}

const sets =
  (...headers: [string, string][]): RequestHandler =>
  (_, response, next) => {
    for (const [name, value] of headers) response.append(name, value)
    next()
  }

/** Middleware that may stand in front of a gate, or behind it. */
export const expressMiddleware: Readonly<Record<string, RequestHandler>> = {
  cors: sets(
    ['access-control-allow-origin', '*'],
    ['access-control-expose-headers', 'payment-required'],
    ['vary', 'Origin'],
  ),
  security: (_, response, next) => {
    response.removeHeader('x-powered-by')
    response.setHeader('Strict-Transport-Security', 'max-age=1')
    response.setHeader('X-Content-Type-Options', 'nosniff')
    next()
  },
  cookies: (_, response, next) => {
    response.cookie('theme', 'dark').cookie('visit', '1', { httpOnly: true })
    next()
  },
  lists: sets(['x-list', 'one'], ['x-list', 'two'], ['link', '</a>; rel=a']),
  type: (_, response, next) => {
    response.type('text/x-own')
    next()
  },
  status: (_, response, next) => {
    response.status(202)
    next()
  },
  late: (_, response, next) => {
    onHead(response, () => response.setHeader('x-late', '1'))
    next()
  },
  slow: (_, __, next) => {
    setTimeout(next, 2)
  },
  session,
  compress,
  json: express.json(),
  text: express.text(),
  form: express.urlencoded({ extended: true }),
  raw: express.raw({ type: '*/*' }),
  locals: (_, response, next) => {
    response.locals.city = 'Ulm'
    next()
  },
}

const plainError = () => Object.assign(new Error('broken'), { stack: 'broken' })

/** Handlers that answer, or do not. */
export const expressHandlers: Readonly<Record<string, RequestHandler>> = {
  text: (_, response) => {
    response.send('grüß dich')
  },
  json: (_, response) => {
    response.json({ sky: 'clear', city: response.locals.city })
  },
  bytes: (_, response) => {
    response.send(bytes)
  },
  empty: (_, response) => {
    response.end()
  },
  noContent: (_, response) => {
    response.status(204).end()
  },
  resetContent: (_, response) => {
    response.status(205).send()
  },
  created: (_, response) => {
    response.status(201).location('/made').send('made')
  },
  redirect: (_, response) => {
    response.redirect('/elsewhere')
  },
  permanent: (_, response) => {
    response.redirect(308, 'https://shop.example/a?b=1')
  },
  pieces: async (_, response) => {
    response.write('00ff', 'hex')
    await new Promise<void>((resolve) => {
      response.write('YWJj', 'base64', () => resolve())
    })
    response.write(bytes)
    response.end('\u00e4', 'latin1')
  },
  head: (_, response) => {
    response.writeHead(203, 'Fine', { 'X-Own': ['1', '2'], 'X-Number': 3 })
    response.end('done')
  },
  headList: (_, response) => {
    response.setHeader('x-own', 'before')
    response.writeHead(200, ['X-Own', 'a', 'X-Other', 'b'] as never)
    response.end('done')
  },
  flushed: (_, response) => {
    response.flushHeaders()
    response.end('done')
  },
  corked: (_, response) => {
    response.cork()
    response.write('one ')
    response.write('two')
    response.uncork()
    response.end()
  },
  piped: (_, response) => {
    Readable.from([Buffer.from('the '), Buffer.from('file')]).pipe(response)
  },
  pipeline: async (_, response) => {
    await pipeline(Readable.from(['a', 'b']), response)
  },
  sendFile: (_, response) => {
    response.sendFile(file)
  },
  download: (_, response) => {
    response.download(file, 'größe.txt')
  },
  etag: (_, response) => {
    response.set('ETag', '"1"').send('tagged')
  },
  lastModified: (_, response) => {
    response.set('Last-Modified', new Date(0).toUTCString()).send('old')
  },
  format: (_, response) => {
    response.format({
      text: () => response.send('words'),
      json: () => response.json({ words: true }),
    })
  },
  links: (_, response) => {
    response.links({ next: '/2' }).append('x-many', ['1', '2']).send('page')
  },
  clears: (_, response) => {
    response.clearCookie('theme').removeHeader('x-list')
    response.send('cleared')
  },
  body: (request, response) => {
    const { body } = request
    if (body instanceof Uint8Array) response.send(body)
    else response.json({ body: body === undefined ? 'none' : body })
  },
  readBody: async (request, response) => {
    // A parser that stands before it has read it.
    const chunks = request.readableEnded ? [] : await request.toArray()
    response.type('application/octet-stream').send(Buffer.concat(chunks))
  },
  sent: (_, response) => {
    response.write('sent ')
    response.end(String(response.headersSent))
  },
  late: (_, response) => {
    setTimeout(() => response.send('later'), 2)
  },
  twice: (_, response) => {
    response.end('first')
    response.end()
  },
  missing: (_, __, next) => next(),
  refused: (_, response) => {
    response.status(403).json({ error: 'no' })
  },
  odd: (_, response) => {
    response.statusMessage = 'Odd'
    response.status(299).send('odd')
  },
  throws: () => {
    throw plainError()
  },
  rejects: async () => {
    throw Object.assign(plainError(), { status: 418 })
  },
  nextError: (_, __, next) => next(plainError()),
}

/** Answers errors, unless part of the answer is sent already. */
export const answerError: ErrorRequestHandler = (error, _, response, next) => {
  // Express shows the stack, in which the gate stands.
  error.stack = error.message
  if (response.headersSent || error.status) return next(error)
  response.status(500).json({ caught: error.message })
}

/** Requests as clients send them. */
export const requests: Readonly<Record<string, AskedRequest>> = {
  get: { method: 'GET', headers: {} },
  browser: {
    method: 'GET',
    headers: {
      accept: 'application/json',
      'accept-encoding': 'gzip, br',
      origin: 'https://page.example',
      cookie: 'theme=light',
    },
  },
  revalidation: {
    method: 'GET',
    headers: { 'if-none-match': '"1"', 'accept-encoding': 'gzip' },
  },
  json: {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"city":"Ulm"}',
  },
  gzipped: {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'content-encoding': 'gzip',
      'accept-encoding': 'gzip',
    },
    body: gzipSync('{"city":"Ulm"}'),
  },
  form: {
    method: 'PUT',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: 'city[name]=Ulm&day=1',
  },
  text: {
    method: 'POST',
    headers: { 'content-type': 'text/plain; charset=utf-8' },
    body: 'grüß dich',
  },
  chunked: {
    method: 'POST',
    headers: {
      'content-type': 'application/octet-stream',
      'transfer-encoding': 'chunked',
    },
    body: bytes,
  },
  emptyChunked: {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'transfer-encoding': 'chunked',
    },
  },
  malformed: {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"city":',
  },
  remove: { method: 'DELETE', headers: {} },
}
