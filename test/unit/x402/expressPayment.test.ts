import { request as openRequest, type ServerResponse } from 'node:http'
import { expressPayment, type X402Gate } from 'countersign/x402'
import express, { type ErrorRequestHandler, type RequestHandler } from 'express'
import { afterEach, expect, test, vi } from 'vitest'
import { listen, openedGate } from '../support/openedGate.js'

afterEach(() => {
  vi.useRealTimers()
})

async function serve(gate: X402Gate, handler: RequestHandler): Promise<string> {
  const app = express()
  app.get('/', expressPayment(gate, 'work'), handler)
  return listen(app)
}

test('a handler that says nothing for a minute after its client left has failed', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  let end = (_: unknown) => {}
  const ended = new Promise((resolve) => {
    end = resolve
  })
  const reported = vi.fn(end)
  let write = () => {}
  let hasLeft = () => {}
  const left = new Promise<void>((resolve) => {
    hasLeft = resolve
  })
  const url = await serve(openedGate(reported), (request, response) => {
    write = () => response.write('still here')
    request.socket.once('close', () => setImmediate(hasLeft))
    asked.destroy()
  })
  const asked = openRequest(url)
  asked.on('error', () => undefined)
  asked.end()
  await left
  await vi.advanceTimersByTimeAsync(59_000)
  write()
  await vi.advanceTimersByTimeAsync(59_000)
  expect(reported).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(1_000)
  expect(await ended).toBeInstanceOf(Error)
  // What the handler writes later goes nowhere, and throws nothing.
  write()
})

const kept: readonly (readonly [string, string])[] = [
  ['set-cookie', 'one=1'],
  ['set-cookie', 'two=2'],
  ['x-own', '3'],
]
const byName = { 'Set-Cookie': ['one=1', 'two=2'], 'X-Own': 3 }
const inTurn = ['Set-Cookie', 'one=1', 'X-Own', 3, 'Set-Cookie', 'two=2']

const heads: [
  string,
  (response: ServerResponse) => ServerResponse,
  typeof kept,
][] = [
  ['a text', (to) => to.writeHead(201, 'Made'), []],
  ['headers by name', (to) => to.writeHead(201, byName), kept],
  [
    'a text and headers by name',
    (to) => to.writeHead(201, 'Made', byName),
    kept,
  ],
  ['names and values in turn', (to) => to.writeHead(201, inTurn), kept],
]

test.each(heads)(
  'writeHead takes %s, as in Node',
  async (_, write, headers) => {
    const url = await serve(
      openedGate(() => undefined),
      (_request, response) => {
        response.removeHeader('x-powered-by')
        write(response).end('done')
      },
    )
    const response = await fetch(url)
    const own = ['connection', 'content-length', 'date', 'keep-alive']
    const others = [...response.headers].filter(([name]) => !own.includes(name))
    expect([response.status, others]).toEqual([201, headers])
    expect(await response.text()).toBe('done')
  },
)

test('an answer longer than the gate allows fails, and is not collected', async () => {
  const url = await serve(
    openedGate(() => undefined),
    (_, response) => {
      response.write('1'.repeat(1_000))
      response.end('1')
    },
  )
  const response = await fetch(url)
  expect([response.status, await response.json()]).toEqual([
    500,
    { error: 'answer_too_long' },
  ])
})

test('an answer as long as the gate allows is sent', async () => {
  const url = await serve(
    openedGate(() => undefined),
    (_, response) => {
      response.end('ä'.repeat(500))
    },
  )
  expect(await (await fetch(url)).text()).toBe('ä'.repeat(500))
})

test('a handler that waits until its pieces are written goes on', async () => {
  const url = await serve(
    openedGate(() => undefined),
    async (_, response) => {
      await new Promise<void>((resolve) => {
        response.write('one ', () => resolve())
      })
      await new Promise<void>((resolve) => {
        response.write('two ', 'utf8', () => resolve())
      })
      response.end('three')
    },
  )
  const signal = AbortSignal.timeout(10_000)
  const response = await fetch(url, { signal })
  expect(await response.text()).toBe('one two three')
})

test('early hints of a handler are held back, like its answer', async () => {
  const url = await serve(
    openedGate(() => undefined),
    (_, response) => {
      response.writeContinue()
      response.writeProcessing()
      response.writeEarlyHints({ link: '</secret>; rel=preload' }, () => {
        response.end('done')
      })
    },
  )
  const early: (number | undefined)[] = []
  const text = await new Promise((resolve, reject) => {
    const asked = openRequest(url, async (response) => {
      resolve((await response.toArray()).join(''))
    })
    asked.on('information', ({ statusCode }) => early.push(statusCode))
    asked.on('continue', () => early.push(100))
    asked.on('error', reject)
    asked.end()
  })
  expect([text, early]).toEqual(['done', []])
})

test.each([
  ['GET', 'a b'],
  ['GET', 'x:y@z'],
  ['GET', '[::1'],
  ['GET', 'x:99999'],
  ['TRACE', 'shop.example'],
])('%s with the host %s is a malformed request', async (method, host) => {
  const seen: unknown[] = []
  const app = express()
  const gate = openedGate(() => undefined)
  app.use(expressPayment(gate, 'work'), (_, response) => {
    response.send('done')
  })
  const onError: ErrorRequestHandler = (error, _request, response, _next) => {
    seen.push(error)
    response.status(500).end()
  }
  app.use(onError)
  const url = await listen(app)
  const answer = await new Promise((resolve, reject) => {
    const asked = openRequest(url, { method, headers: { host } })
    asked.on('response', async (response) => {
      const body = (await response.toArray()).join('')
      resolve([response.statusCode, body])
    })
    asked.on('error', reject)
    asked.end()
  })
  expect(answer).toEqual([400, '{"error":"malformed_request"}'])
  expect(seen).toEqual([])
})
