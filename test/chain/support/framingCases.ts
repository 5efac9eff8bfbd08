import type { RequestHandler, Response } from 'express'

/** Does one thing to a response. Node may refuse it. */
type Act = (response: Response) => unknown

const set =
  (...headers: [string, unknown][]): Act =>
  (response) => {
    for (const [name, value] of headers)
      response.setHeader(name, value as string)
  }

/** Each header that Node refuses or that changes how an answer is sent. */
const heads: Readonly<Record<string, Act>> = {
  nothing: () => undefined,
  trailer: set(['Trailer', 'X-T']),
  trailerAtHead: (to) => to.writeHead(200, { Trailer: 'X-T' }),
  trailerAndLength: set(['Trailer', 'X-T'], ['Content-Length', 3]),
  trailerAndLengthAtHead: (to) =>
    to.writeHead(200, { Trailer: 'X-T', 'Content-Length': 3 }),
  chunked: set(['Transfer-Encoding', 'chunked']),
  chunkedAndTrailer: (to) =>
    to.writeHead(200, { 'Transfer-Encoding': 'chunked', Trailer: 'X-T' }),
  length: set(['Content-Length', 3]),
  lengthTwice: (to) => to.writeHead(200, { 'content-length': [3] } as never),
  lengthTaken: (to) => {
    to.setHeader('Content-Length', 3)
    to.removeHeader('Content-Length')
    to.removeHeader('Transfer-Encoding')
  },
  strictLength: (to) => {
    to.strictContentLength = true
    to.setHeader('Content-Length', 3)
  },
  strictOtherLength: (to) => {
    to.strictContentLength = true
    to.setHeader('Content-Length', 5)
  },
  close: set(['Connection', 'close']),
  keepAlive: set(['Connection', 'keep-alive'], ['Keep-Alive', 'timeout=1']),
  upgrade: set(['Upgrade', 'h2c']),
  expect: set(['Expect', '100-continue']),
  expectAtHead: (to) => to.writeHead(200, { Expect: '100-continue' }),
  date: set(['Date', 'Thu, 01 Jan 1970 00:00:00 GMT']),
  noDate: (to) => to.removeHeader('Date'),
  control: set(['X-Odd', 'a\u0001b']),
  lineBreak: set(['X-Odd', 'a\r\nb: c']),
  latin: set(['X-Odd', 'caf\u00e9']),
  wide: set(['X-Odd', '\u20ac']),
  wideAtHead: (to) => to.writeHead(201, { 'X-Fine': '1', 'X-Odd': '\u20ac' }),
  oddName: set(['X Odd', '1']),
  undefinedValue: set(['X-Odd', undefined]),
  undefinedAtHead: (to) => to.writeHead(200, { 'X-Odd': undefined }),
  nullValue: set(['X-Odd', null]),
  listOfOdd: (to) => to.writeHead(200, ['X-Odd'] as never),
  numbers: (to) => to.writeHead(200, { 'X-Number': 3, 'X-List': ['1', '2'] }),
  appended: (to) => to.appendHeader('X-Many', '1').appendHeader('X-Many', '2'),
  reason: (to) => to.writeHead(200, 'Fine'),
  oddReason: (to) => to.writeHead(200, 'a\nb'),
  oddReasonSet: (to) => {
    to.statusMessage = 'a\nb'
  },
  status0: (to) => to.writeHead(0),
  status99: (to) => to.writeHead(99),
  status1000: (to) => to.writeHead(1000),
  statusText: (to) => to.writeHead('200' as never),
  statusSet: (to) => {
    to.statusCode = 99
  },
  noContent: (to) => to.status(204),
  notModified: (to) => to.status(304),
  noContentAtHead: (to) => to.writeHead(204, { 'Content-Length': 3 }),
  chunkedNoContent: (to) =>
    to.writeHead(204, { 'Transfer-Encoding': 'chunked' }),
  headTwice: (to) => {
    to.writeHead(201)
    to.writeHead(202)
  },
  headByOldName: (to) =>
    Reflect.apply(Reflect.get(to, 'writeHeader'), to, [201]),
  flushed: (to) => to.flushHeaders(),
  oddHints: (to) => to.writeEarlyHints({ link: 'nonsense' }),
  noHints: (to) => to.writeEarlyHints('text' as never),
}

/** Ways to write the three bytes of a body. */
const bodies: Readonly<Record<string, readonly Act[]>> = {
  end: [(to) => to.end('abc')],
  send: [(to) => to.send('abc')],
  pieces: [(to) => to.write('a'), (to) => to.write('bc'), (to) => to.end()],
  trailers: [
    (to) => to.write('abc'),
    (to) => to.addTrailers({ 'X-T': '1' }),
    (to) => to.end(),
  ],
  trailersBefore: [
    (to) => to.addTrailers({ 'X-T': '1' }),
    (to) => to.write('a'),
    (to) => to.end('bc'),
  ],
  oddTrailers: [
    (to) => to.addTrailers({ 'X-T': 'a\nb' }),
    (to) => to.addTrailers({ 'X T': 'a' }),
    (to) => to.end('abc'),
  ],
  lateTrailers: [(to) => to.end('abc'), (to) => to.addTrailers({ 'X-T': '1' })],
  lateHeaders: [
    (to) => to.end('abc'),
    (to) => to.setHeader('X-Late', '1'),
    (to) => to.removeHeader('X-Powered-By'),
    (to) => to.appendHeader('X-Late', '1'),
    (to) => to.writeHead(201),
    (to) => to.status(500).json({}),
  ],
  headBetween: [
    (to) => to.write('a'),
    (to) => to.writeHead(201),
    (to) => to.setHeader('Trailer', 'X-T'),
    (to) => to.end('bc'),
  ],
  odd: [
    (to) => to.write(null),
    (to) => to.write(7),
    (to) => to.write(undefined),
    (to) => to.end(7),
    (to) => to.end('abc'),
  ],
  afterEnd: [
    (to) => to.end('abc'),
    (to) => to.on('error', () => undefined).write('d'),
    (to) => to.end('e'),
    (to) => to.end(),
  ],
}

/** What comes before the acts, and after them. */
const turns = ['now', 'later', 'thenThrows', 'thenNext'] as const

/** Who does the first act: the handler, or middleware before or behind it. */
const places = ['handler', 'inFront', 'behind'] as const

export type FramingCase = {
  head: string
  body: string
  turn: (typeof turns)[number]
  place: (typeof places)[number]
}

/** Codes of what was thrown where the handler called. */
export type Thrown = unknown[]

function attempt(thrown: Thrown, response: Response, act: Act): void {
  try {
    act(response)
  } catch (error) {
    thrown.push(Object(error).code ?? Object(error).name)
  }
}

/** Answers somehow if Node has refused every answer before. */
function answerAnyhow(thrown: Thrown, response: Response): void {
  if (response.writableEnded) return
  if (!response.headersSent) {
    for (const name of response.getHeaderNames()) response.removeHeader(name)
    response.strictContentLength = false
    response.statusCode = 200
    response.statusMessage = ''
  }
  attempt(thrown, response, (to) => to.end('abc'))
}

/**
 * The middleware before the gate, and the handlers behind it. Adds to `thrown`
 * what Node throws where they call it.
 */
export function handlersOf(
  { head, body, turn, place }: FramingCase,
  thrown: Thrown,
): { inFront: RequestHandler; behind: RequestHandler[] } {
  const first = heads[head]
  const acts = bodies[body]
  if (!first || !acts) throw new Error('no such case')
  const begin =
    (at: FramingCase['place']): RequestHandler =>
    (_, response, next) => {
      if (place === at) attempt(thrown, response, first)
      next()
    }
  const handler: RequestHandler = async (_, response, next) => {
    if (turn === 'later') await new Promise(setImmediate)
    if (place === 'handler') attempt(thrown, response, first)
    for (const act of acts) attempt(thrown, response, act)
    answerAnyhow(thrown, response)
    if (turn === 'thenThrows') throw new Error('after the answer')
    if (turn === 'thenNext') next()
  }
  return { inFront: begin('inFront'), behind: [begin('behind'), handler] }
}

/** Heads that begin to answer. */
const writesHead =
  /AtHead$|^(status[\dT]|headTwice|headBy|flushed|reason|numbers|chunkedAndT|chunkedNo|lengthTwice|listOfOdd|oddReason$)/

/**
 * Every combination. Middleware in front does not write the head. A trailer
 * that is announced later than in the first turn is tested apart.
 */
export const framingCases: readonly FramingCase[] = Object.keys(heads)
  .flatMap((head) =>
    Object.keys(bodies).flatMap((body) => [
      ...turns.map((turn) => ({ head, body, turn, place: 'handler' }) as const),
      { head, body, turn: 'now', place: 'inFront' } as const,
      { head, body, turn: 'now', place: 'behind' } as const,
    ]),
  )
  .filter(
    ({ head, body, turn, place }) =>
      !(place === 'inFront' && writesHead.test(head)) &&
      !(turn === 'later' && head.startsWith('trailer')) &&
      // Node 20 throws after it took three bytes of five, and such an answer
      // never ends. `send` sets the length that fits.
      !(head === 'strictOtherLength' && body !== 'send'),
  )
