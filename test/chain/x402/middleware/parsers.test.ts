import { createHmac } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { expressPayment, honoPayment } from 'countersign/x402'
import express, { type RequestHandler } from 'express'
import { type Context, Hono, type Next } from 'hono'
import { validator } from 'hono/validator'
import { expect, test } from 'vitest'
import { fundedAccount } from '../../support/desk.js'
import { serveExpress } from '../../support/expressServer.js'
import {
  balanceOf,
  chain,
  openGateShop,
  price,
  serveApp,
  signFor,
} from '../../support/x402Desk.js'

type Observed = { name: string; attributes: Record<string, unknown> }

const told: Observed[] = []
const { gate } = await openGateShop(
  {},
  { observe: (observation) => told.push(observation) },
)

const show: RequestHandler = (request, response) => {
  response.json({ body: request.body ?? null })
}

/** Reads the bytes beside others, as middleware that checks a mark does. */
const digest: RequestHandler = (request, response, next) => {
  const mark = createHmac('sha256', 'key')
  request.on('data', (chunk) => mark.update(chunk))
  request.on('end', () => {
    response.locals.mark = mark.digest('hex')
  })
  next()
}

/** Reads the body, and shows it to nobody. */
const swallow: RequestHandler = async (request, _, next) => {
  await request.toArray()
  next()
}

const expressUrl = await serveExpress((app) => {
  const sold = expressPayment(gate, 'work')
  app.post('/json', sold, express.json(), show)
  app.post('/text', sold, express.json(), express.text(), show)
  app.post('/form', sold, express.urlencoded({ extended: true }), show)
  app.post('/raw', sold, express.raw({ type: '*/*' }), show)
  app.post('/limited', sold, express.json({ limit: 5 }), show)
  app.post('/none', sold, show)
  app.post('/front', express.json(), sold, show)
  app.post('/iterated', sold, async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    response.json({ body: text })
  })
  app.post('/piped', sold, (request, response) => {
    request.pipe(response)
  })
  app.post('/unread', sold, (_, response) => {
    response.json({ body: null })
  })
  app.post('/digest', digest, sold, express.json(), (request, response) => {
    response.json({ body: request.body, mark: response.locals.mark })
  })
  app.post('/swallowed', swallow, sold, show)
})

/** Pays for a request, and returns its answer. */
async function buy(url: string, init: RequestInit): Promise<Response> {
  const account = await fundedAccount(chain, price)
  const asked = await fetch(url, { ...init, method: 'POST' })
  const headers = new Headers(init.headers)
  headers.set('PAYMENT-SIGNATURE', await signFor(account, asked))
  return fetch(url, { ...init, method: 'POST', headers })
}

const json = { 'content-type': 'application/json' }
const city = '{"city":"Ulm"}'
const typed = (type: string) => ({ 'content-type': type })

test.each<[string, RequestInit, unknown]>([
  ['json', { headers: json, body: city }, { city: 'Ulm' }],
  [
    'json',
    {
      headers: { ...json, 'content-encoding': 'gzip' },
      body: gzipSync(city),
    },
    { city: 'Ulm' },
  ],
  ['text', { headers: typed('text/plain'), body: 'Ulm' }, 'Ulm'],
  [
    'form',
    { body: new URLSearchParams('city[name]=Ulm') },
    { city: { name: 'Ulm' } },
  ],
  [
    'raw',
    { headers: typed('image/png'), body: Uint8Array.of(0, 255) },
    { type: 'Buffer', data: [0, 255] },
  ],
  ['none', { headers: json, body: city }, null],
  ['front', { headers: json, body: city }, { city: 'Ulm' }],
  ['iterated', { body: 'x'.repeat(200_000) }, 'x'.repeat(200_000)],
  ['unread', { body: 'x'.repeat(200_000) }, null],
])(
  'Express: what reads the body at /%s gets what it gets without the gate',
  async (path, init, body) => {
    const response = await buy(`${expressUrl}/${path}`, init)
    expect([response.status, await response.json()]).toEqual([200, { body }])
  },
)

test('Express: a body can be piped behind the gate', async () => {
  const body = 'x'.repeat(200_000)
  const response = await buy(`${expressUrl}/piped`, { body })
  expect(await response.text()).toBe(body)
})

test('Express: a parser behind the gate refuses what is too long, and nothing is taken', async () => {
  const account = await fundedAccount(chain, price)
  const url = `${expressUrl}/limited`
  const init = { method: 'POST', body: city }
  const header = await signFor(account, await fetch(url, init))
  const headers = { ...json, 'PAYMENT-SIGNATURE': header }
  const response = await fetch(url, { ...init, headers })
  expect(response.status).toBe(413)
  expect(await balanceOf(account.address)).toBe(price)
})

test('Express: middleware in front that reads beside others gets each byte once', async () => {
  const init = { headers: json, body: city }
  const response = await buy(`${expressUrl}/digest`, init)
  expect(await response.json()).toEqual({
    body: { city: 'Ulm' },
    mark: createHmac('sha256', 'key').update(city).digest('hex'),
  })
})

test('Express: a payment is bound to the body that a parser behind the gate reads', async () => {
  const account = await fundedAccount(chain, 2n * price)
  const url = `${expressUrl}/json`
  const asked = await fetch(url, { method: 'POST' })
  const header = await signFor(account, asked)
  const headers = { ...json, 'PAYMENT-SIGNATURE': header }
  const post = (body: string) => fetch(url, { method: 'POST', headers, body })
  expect((await post(city)).status).toBe(200)
  expect((await post('{"city":"Bonn"}')).status).toBe(402)
  expect((await post(city)).status).toBe(200)
})

const hono = new Hono()
hono.onError((error, context) => context.text(error.message, 500))
const inFront: Record<string, (context: Context, next: Next) => Promise<void>> =
  {
    json: async ({ req }, next) => {
      await req.json()
      await next()
    },
    text: async ({ req }, next) => {
      await req.text()
      await next()
    },
    bytes: async ({ req }, next) => {
      await req.arrayBuffer()
      await next()
    },
    blob: async ({ req }, next) => {
      await req.blob()
      await next()
    },
    parseBody: async ({ req }, next) => {
      await req.parseBody()
      await next()
    },
    formData: async ({ req }, next) => {
      await req.formData()
      await next()
    },
    raw: async ({ req }, next) => {
      await req.raw.text()
      await next()
    },
  }
for (const [name, read] of Object.entries(inFront))
  hono.post(`/${name}`, read, honoPayment(gate, 'work'), async (context) =>
    /form/i.test(context.req.header('content-type') ?? '')
      ? context.json(Object.fromEntries(await context.req.formData()))
      : context.json(await context.req.json()),
  )
hono.post(
  '/validator',
  validator('json', (value) =>
    value.city === 'Ulm'
      ? value
      : new Response('no such city', { status: 422 }),
  ),
  honoPayment(gate, 'work'),
  (context) => context.json(context.req.valid('json')),
)
hono.post(
  '/validatorBehind',
  honoPayment(gate, 'work'),
  validator('json', (value) => value),
  (context) => context.json(context.req.valid('json')),
)
const honoUrl = await serveApp(hono.fetch)

const formOf = (name: string) => {
  const form = new FormData()
  form.set('city', name)
  return form
}

test.each<[string, (city: string) => RequestInit]>([
  ...['json', 'text', 'bytes', 'blob', 'validator', 'validatorBehind'].map(
    (name): [string, (city: string) => RequestInit] => [
      name,
      (city) => ({ headers: json, body: JSON.stringify({ city }) }),
    ],
  ),
  ['parseBody', (city) => ({ body: new URLSearchParams({ city }) })],
  ['formData', (city) => ({ body: formOf(city) })],
])(
  'Hono: a body that was read by %s is bound and read again',
  async (name, initOf) => {
    const url = `${honoUrl}/${name}`
    const account = await fundedAccount(chain, 2n * price)
    const asked = await fetch(url, { method: 'POST', ...initOf('Ulm') })
    expect(asked.status).toBe(402)
    const header = await signFor(account, asked)
    const post = (city: string) => {
      const init = initOf(city)
      const headers = new Headers(init.headers)
      headers.set('PAYMENT-SIGNATURE', header)
      return fetch(url, { ...init, method: 'POST', headers })
    }
    for (const _ of ['first', 'again']) {
      const response = await post('Ulm')
      expect([response.status, await response.json()]).toEqual([
        200,
        { city: 'Ulm' },
      ])
    }
    const other = name === 'validator' ? 422 : 402
    expect((await post('Bonn')).status).toBe(other)
    expect(await balanceOf(account.address)).toBe(price)
  },
)

test.each([
  ['Express', `${expressUrl}/swallowed`],
  ['Hono', `${honoUrl}/raw`],
])(
  '%s: a body that was read in front and is gone is an error that says so, also to `observe`',
  async (_, url) => {
    told.length = 0
    const response = await fetch(url, { method: 'POST', body: city })
    expect(response.status).toBe(500)
    const words = 'request must be a request whose body is unread'
    expect(await response.text()).toContain(words)
    expect(told).toMatchObject([
      {
        name: 'x402.answer',
        attributes: {
          ok: false,
          error: 'InvalidFieldError',
          words: expect.stringContaining(words),
        },
      },
    ])
  },
)
