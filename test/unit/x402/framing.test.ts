import {
  createServer,
  get as getFrom,
  request as openRequest,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { expressPayment } from 'countersign/x402'
import express, { type RequestHandler } from 'express'
import { expect, test, vi } from 'vitest'
import { listen, openedGate } from '../support/openedGate.js'

type Answer = { status: number; body: string; trailers: object }

const ask = (url: string, method = 'GET'): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const asked = openRequest(url, { method, agent: false }, async (answer) => {
      const chunks = await answer.toArray().catch(reject)
      const { statusCode: status = 0, trailers } = answer
      const body = Buffer.concat(chunks ?? []).toString()
      resolve({ status, body, trailers })
    })
    asked.on('error', reject)
    asked.end()
  })

/** Serves handlers with a gate, and without one. */
async function serveBoth(
  ...handlers: RequestHandler[]
): Promise<{ sold: string; free: string; ended: unknown[] }> {
  const ended: unknown[] = []
  const app = express()
  const gate = openedGate((end) => ended.push(end))
  app.get('/sold', expressPayment(gate, 'work'), ...handlers)
  app.get('/free', ...handlers)
  const url = await listen(app)
  return { sold: `${url}/sold`, free: `${url}/free`, ended }
}

test('trailers that a handler announces and adds are left out', async () => {
  const { sold } = await serveBoth((_, response) => {
    response.writeHead(200, { Trailer: 'X-T' })
    response.write('a')
    response.addTrailers({ 'X-T': '1' })
    response.end()
  })
  expect(await ask(sold)).toEqual({ status: 200, body: 'a', trailers: {} })
})

test('trailers of an upstream are left out', async () => {
  const upstream = createServer((_, response) => {
    response.writeHead(200, { Trailer: 'X-T' })
    response.write('from ')
    response.addTrailers({ 'X-T': '1' })
    response.end('above')
  })
  await new Promise<void>((resolve) => {
    upstream.listen(0, '127.0.0.1', resolve)
  })
  const { port } = upstream.address() as AddressInfo
  const { sold } = await serveBoth((_, response) => {
    getFrom(`http://127.0.0.1:${port}`, { agent: false }, (answer) => {
      response.writeHead(answer.statusCode ?? 0, answer.headers)
      answer.pipe(response)
    })
  })
  const answer = await ask(sold)
  upstream.close()
  expect(answer).toEqual({ status: 200, body: 'from above', trailers: {} })
})

// Without a gate, each of these ends the process.
test.each<[string, RequestHandler, number]>([
  [
    'announces trailers later, next to a length',
    (_, response) => {
      setImmediate(() => {
        response.writeHead(200, { Trailer: 'X-T', 'Content-Length': 1 })
        response.end('a')
      })
    },
    200,
  ],
  [
    'announces trailers of an answer that has a length',
    (_, response) => {
      response.setHeader('Trailer', 'X-T')
      response.send('a')
    },
    500,
  ],
  [
    'announces trailers, and throws',
    (_, response) => {
      response.setHeader('Trailer', 'X-T')
      throw new Error('no answer')
    },
    500,
  ],
  [
    'announces trailers, and rejects',
    async (_, response) => {
      response.setHeader('Trailer', 'X-T')
      await new Promise(setImmediate)
      throw new Error('no answer')
    },
    500,
  ],
  [
    'writes after the end',
    (_, response) => {
      response.end('a')
      response.write('b')
      response.end('c')
    },
    200,
  ],
])('a handler that %s does not end the process', async (_, handler, status) => {
  const { sold } = await serveBoth(handler)
  expect(await ask(sold)).toMatchObject({ status })
})

test('middleware in front that announces trailers as late as it can does not end the process', async () => {
  const app = express()
  app.use((_, response, next) => {
    const { writeHead } = response
    response.writeHead = (...given: unknown[]) => {
      response.setHeader('Trailer', 'X-T')
      return Reflect.apply(writeHead, response, given)
    }
    next()
  })
  const gate = openedGate(() => undefined)
  app.get('/', expressPayment(gate, 'work'), (_, response) => {
    response.send('a')
  })
  expect(await ask(await listen(app))).toMatchObject({ status: 200, body: 'a' })
})

const afterwards: [string, RequestHandler][] = [
  [
    'throws',
    (_, response) => {
      response.end('done')
      throw new Error('too late')
    },
  ],
  [
    'rejects',
    async (_, response) => {
      response.json({ done: true })
      await new Promise(setImmediate)
      throw new Error('too late')
    },
  ],
  [
    'passes on an error',
    (_, response, next) => {
      response.end('done')
      next(new Error('too late'))
    },
  ],
  [
    'passes on the request',
    (_, response, next) => {
      response.end('done')
      next()
    },
  ],
  [
    'sets another status',
    (_, response) => {
      response.writeHead(201)
      response.status(500).end('done')
    },
  ],
  [
    'destroys the response',
    (_, response) => {
      response.end('done')
      response.socket?.destroy()
    },
  ],
]

test.each(afterwards)(
  'an answer counts if the handler ends it and then %s',
  async (_, handler) => {
    const { sold, free, ended } = await serveBoth(handler)
    expect(await ask(sold)).toEqual(await ask(free))
    expect(ended).toEqual([expect.any(Response)])
  },
)

test.each([103, 199, 600, 999])(
  'an answer with the status %d, which no client can be sold, is a failure',
  async (status) => {
    const { sold, ended } = await serveBoth((_, response) => {
      response.writeHead(status).end()
    })
    expect(await ask(sold)).toMatchObject({ status: 500 })
    expect(ended).toEqual([expect.any(RangeError)])
  },
)

test.each([
  ['GET', 204],
  ['GET', 304],
  ['HEAD', 200],
])(
  'the answer to %s with status %d goes through a server that refuses bodies where none is allowed',
  async (method, status) => {
    const app = express()
    app.set('env', 'test')
    const gate = openedGate(() => undefined)
    app.use(expressPayment(gate, 'work'), (_, response) => {
      response.status(status).end()
    })
    const server = createServer({ rejectNonStandardBodyWrites: true }, app)
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve)
    })
    const { port } = server.address() as AddressInfo
    const answer = await ask(`http://127.0.0.1:${port}`, method)
    server.close()
    expect(answer).toEqual({ status, body: '', trailers: {} })
  },
)

test('a gate behind middleware that has written the head fails by name', async () => {
  const failed = vi.fn()
  const app = express()
  const gate = openedGate(() => undefined)
  const flush: RequestHandler = (_, response, next) => {
    response.flushHeaders()
    next()
  }
  app.get('/', flush, expressPayment(gate, 'work'))
  app.use(((error, _, response, next) => {
    failed(error)
    response.end('failed')
    void next
  }) satisfies express.ErrorRequestHandler)
  expect((await ask(await listen(app))).body).toBe('failed')
  expect(failed.mock.lastCall?.[0]).toMatchObject({
    name: 'InvalidFieldError',
    details: { field: 'response' },
  })
})

test('the callbacks of a write and of the end are called as without a gate', async () => {
  const calls: string[] = []
  const { sold, free } = await serveBoth(
    async (_, response: ServerResponse) => {
      const call = (name: string) => () => calls.push(name)
      response.write('a', call('write'))
      response.end('b', call('end'))
      response.end(call('again'))
    },
  )
  await ask(free)
  const expected = calls.splice(0).sort()
  await ask(sold)
  await vi.waitFor(() => expect(calls.sort()).toEqual(expected))
})
