import { request as openRequest, type ServerResponse } from 'node:http'
import { pipeline, Readable } from 'node:stream'
import { expressPayment } from 'countersign/x402'
import express, { type RequestHandler } from 'express'
import { expect, test, vi } from 'vitest'
import { listen, openedGate } from '../support/openedGate.js'

type Answer = { status: number; reason: string; headers: object; body: string }

type Compared = { sold: Answer; free: Answer }

/** Gets the answer of handlers with a gate in front, and without one. */
const compare = (...handlers: RequestHandler[]) => compareTo('GET', ...handlers)

async function compareTo(
  method: string,
  ...handlers: RequestHandler[]
): Promise<Compared> {
  const app = express()
  const gate = openedGate(() => undefined)
  app.all('/sold', expressPayment(gate, 'work'), ...handlers)
  app.all('/free', ...handlers)
  const url = await listen(app)
  return {
    sold: await ask(`${url}/sold`, method),
    free: await ask(`${url}/free`, method),
  }
}

/** Headers of the connection, or of the cache rules of the gate. */
const aside = ['date', 'transfer-encoding', 'content-length']

const ask = (url: string, method: string): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const asked = openRequest(
      url,
      { agent: false, method },
      async (response) => {
        const chunks = await response.toArray()
        const { statusCode = 0, statusMessage = '', headers } = response
        resolve({
          status: statusCode,
          reason: statusMessage,
          headers: Object.fromEntries(
            Object.entries(headers).filter(([name]) => !aside.includes(name)),
          ),
          body: Buffer.concat(chunks).toString('hex'),
        })
      },
    )
    asked.on('error', reject)
    asked.end()
  })

test.each([
  'latin1',
  'binary',
  'ascii',
  'base64',
  'base64url',
  'hex',
  'utf16le',
  'ucs2',
  'utf8',
] as const)(
  'a text that is written as %s leaves as the same bytes as without the gate',
  async (encoding) => {
    const text = Buffer.from('Zürich Ulm').toString(encoding)
    const { sold, free } = await compare((_, response) => {
      response.write(text, encoding)
      response.end(text, encoding)
    })
    expect(sold).toEqual(free)
  },
)

const texts: readonly [name: string, (to: ServerResponse) => unknown][] = [
  ['end(text)', (to) => to.end('abc')],
  ['end(text, utf8)', (to) => to.end('abc', 'utf8')],
  ['end(text, latin1)', (to) => to.end('abc', 'latin1')],
  ['end(text, hex)', (to) => to.end('616263', 'hex')],
  ['end(bytes)', (to) => to.end(Buffer.from('abc'))],
  ['end()', (to) => to.end()],
  ['write(text)', (to) => [to.write('abc'), to.end()]],
  [
    'write(text) of a known length',
    (to) => [to.setHeader('content-length', 3), to.write('abc'), to.end()],
  ],
  ['writeHead, end(text)', (to) => [to.writeHead(201), to.end('abc')]],
  ['flushHeaders, end(bytes)', (to) => [to.flushHeaders(), to.end('abc')]],
]

test.each(
  ['GET', 'HEAD'].flatMap((method) =>
    texts.map(([name, answer]) => [method, name, answer] as const),
  ),
)(
  'headers and reason beyond ASCII leave as the same bytes as without the gate: %s, %s',
  async (method, _, answer) => {
    const { sold, free } = await compareTo(method, (_request, response) => {
      response.statusMessage = 'Caf\u00e9'
      response.setHeader('x-odd', ['caf\u00e9', '\u00fc\u0085'])
      response.cookie('a', '1')
      response.appendHeader('set-cookie', 'b=\u00fc')
      answer(response)
    })
    expect(sold).toEqual(free)
  },
)

test.each(['GET', 'HEAD'])(
  'an encoding that does not exist is an error where Node looks at it: %s',
  async (method) => {
    const unknown = 'no-encoding' as BufferEncoding
    for (const act of [
      (to: ServerResponse) => to.end('abc', unknown),
      (to: ServerResponse) => to.end(Buffer.from('abc'), unknown),
      (to: ServerResponse) => to.write('abc', unknown),
      (to: ServerResponse) => to.write(Buffer.from('abc'), unknown),
    ]) {
      const errors: unknown[] = []
      await compareTo(method, (_, response) => {
        try {
          act(response)
          errors.push(undefined)
        } catch (error) {
          errors.push(Object(error).code)
        }
        if (!response.writableEnded) response.destroy()
      }).catch(() => undefined)
      const [sold, free] = errors
      expect(errors).toHaveLength(2)
      expect(sold).toBe(free)
    }
  },
)

test('a piece that Node refuses is refused, as without the gate', async () => {
  const errors: unknown[] = []
  const { sold, free } = await compare((_, response) => {
    try {
      response.write(7)
    } catch (error) {
      errors.push(Object(error).code)
    }
    response.end('done')
  })
  const expected = 'ERR_INVALID_ARG_TYPE'
  expect(errors).toEqual([expected, expected])
  expect(sold).toEqual(free)
})

/** Does something when the head is written, as `on-headers` does. */
const onHead =
  (work: (response: ServerResponse) => void): RequestHandler =>
  (_, response, next) => {
    const { writeHead } = response
    response.writeHead = (...given: unknown[]) => {
      response.writeHead = writeHead
      work(response)
      return Reflect.apply(writeHead, response, given)
    }
    next()
  }

test.each([
  ['end', (to: ServerResponse) => to],
  ['write', (to: ServerResponse) => to.write('do')],
  ['flushHeaders', (to: ServerResponse) => to.flushHeaders()],
  ['writeHead', (to: ServerResponse) => to.writeHead(201)],
])(
  'middleware behind the gate that adds headers as late as it can adds them before %s',
  async (_, begin) => {
    const { sold, free } = await compare(
      onHead((response) => {
        response.setHeader('x-late', '1')
      }),
      (_request, response) => {
        begin(response)
        response.end('ne')
      },
    )
    expect(sold).toEqual(free)
    expect(sold.headers).toMatchObject({ 'x-late': '1' })
  },
)

test('a handler sees that its headers are sent and its answer ended, as without the gate', async () => {
  const seen: unknown[] = []
  const { sold, free } = await compare((_, response) => {
    const look = () => seen.push(response.headersSent, response.writableEnded)
    look()
    response.write('one')
    look()
    for (const late of [
      () => response.setHeader('x-late', '1'),
      () => response.removeHeader('x-powered-by'),
      () => response.writeHead(201),
    ])
      try {
        late()
      } catch (error) {
        seen.push(Object(error).code)
      }
    response.end()
    look()
  })
  const sent = 'ERR_HTTP_HEADERS_SENT'
  const expected = [false, false, true, false, sent, sent, sent, true, true]
  expect(seen).toEqual([...expected, ...expected])
  expect(sold).toEqual(free)
})

test('a reason phrase of a handler is kept', async () => {
  const { sold, free } = await compare((_, response) => {
    response.statusMessage = 'Fine'
    response.end()
  })
  expect(sold).toEqual(free)
  expect(sold.reason).toBe('Fine')
})

test('an answer of Express has its length, as without the gate', async () => {
  const app = express()
  const gate = openedGate(() => undefined)
  app.get('/', expressPayment(gate, 'work'), (_, response) => {
    response.json({ sky: 'clear' })
  })
  const response = await fetch(await listen(app))
  expect(response.headers.get('content-length')).toBe('15')
})

test('a handler that fails in mid-answer has failed at once, and Express closes the connection', async () => {
  const ended = vi.fn()
  const app = express()
  app.get('/', expressPayment(openedGate(ended), 'work'), (_, response) => {
    response.write('the first half')
    throw new Error('no more')
  })
  await expect(fetch(await listen(app))).rejects.toThrow()
  await vi.waitFor(() => expect(ended).toHaveBeenCalledOnce())
  expect(ended.mock.lastCall).toEqual([expect.any(Error)])
})

test('a stream that fails has failed at once, with its error', async () => {
  const ended = vi.fn()
  const app = express()
  const reason = new Error('the disk is gone')
  app.get('/', expressPayment(openedGate(ended), 'work'), (_, response) => {
    const source = Readable.from(
      (async function* () {
        yield 'the first half'
        throw reason
      })(),
    )
    pipeline(source, response, () => undefined)
  })
  const response = await fetch(await listen(app))
  expect(response.status).toBe(500)
  expect(ended.mock.lastCall).toEqual([reason])
})

test('an answer without end fails when it is longer than the gate allows', async () => {
  const app = express()
  const gate = openedGate(() => undefined)
  const stop = new AbortController()
  app.get('/', expressPayment(gate, 'work'), (_, response) => {
    const timer = setInterval(() => response.write('1'.repeat(400)), 1)
    stop.signal.addEventListener('abort', () => clearInterval(timer))
  })
  const response = await fetch(await listen(app))
  expect([response.status, await response.json()]).toEqual([
    500,
    { error: 'answer_too_long' },
  ])
  // What the handler writes later goes nowhere, and throws nothing.
  await new Promise((resolve) => setTimeout(resolve, 20))
  stop.abort()
})
