import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { getRequestListener } from '@hono/node-server'
import { createPaymentHandler, type PaymentHandler } from 'countersign/http'
import { Hono } from 'hono'
import ts from 'typescript'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { readExamples } from '../support/docExamples.js'
import { fakeOrders } from '../support/fakeOrders.js'
import { reasonOf, stubOrders, token } from '../support/httpStub.js'

const page = 'docs/http.md'

type Page = {
  limitRequests(
    handle: PaymentHandler,
    most?: number,
    mostStreams?: number,
  ): (request: Request, address: string) => Promise<Response>
  limitBuyers(app: Hono, handle: PaymentHandler): void
}

/** What the page has a reader copy, as a module beside the packages it imports. */
async function loadPage(): Promise<Page> {
  const example = readExamples(page, readFileSync(page, 'utf8')).find(
    ({ code }) => code.includes('export function limitRequests'),
  )
  const { outputText } = ts.transpileModule(example?.code ?? '', {
    compilerOptions: {
      module: ts.ModuleKind.ESNext,
      target: ts.ScriptTarget.ES2022,
    },
  })
  const folder = join(process.cwd(), 'node_modules', '.countersign')
  mkdirSync(folder, { recursive: true })
  const path = join(folder, 'http-limitRequests.mjs')
  writeFileSync(path, outputText)
  return import(pathToFileURL(path).href)
}

const { limitRequests, limitBuyers } = await loadPage()

const handle = createPaymentHandler(stubOrders(), {
  basePath: '/payments',
  authorize: () => undefined,
})

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] })
  vi.setSystemTime(60_000)
})
afterEach(() => vi.useRealTimers())

const requestWith = (given: string) =>
  new Request('https://shop.test/payments/orders/one', {
    headers: { authorization: `Bearer ${given}` },
  })

/** A token nobody was given. */
const wrong = (index: number) => String(index).padStart(64, '0')

test('whoever tries one token after the other from one address is stopped', async () => {
  const ask = limitRequests(handle, 3)
  const statusOf = async (address: string, given: string) =>
    (await ask(requestWith(given), address)).status
  for (const index of [1, 2, 3])
    expect(await statusOf('203.0.113.1', wrong(index))).toBe(404)
  expect(await reasonOf(ask(requestWith(token), '203.0.113.1'))).toEqual([
    ...[429, 'tooManyRequests'],
  ])
  expect(await statusOf('203.0.113.2', token)).toBe(200)
  vi.setSystemTime(119_999)
  expect(await statusOf('203.0.113.1', token)).toBe(429)
  vi.setSystemTime(120_000)
  expect(await statusOf('203.0.113.1', token)).toBe(200)
})

test('one buyer is stopped whatever address it comes from, and no other', async () => {
  const ask = limitRequests(handle, 3)
  const from = (index: number) => `203.0.113.${index}`
  for (const index of [1, 2, 3])
    expect((await ask(requestWith(token), from(index))).status).toBe(200)
  const refused = await ask(requestWith(token.toUpperCase()), from(4))
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([
    ...[429, '60'],
  ])
  expect((await ask(requestWith(wrong(1)), from(5))).status).toBe(404)
  // What is no token is counted by its address alone.
  for (const index of [6, 7, 8, 9])
    expect((await ask(requestWith('nothing'), from(index))).status).toBe(404)
})

test('streams that are open are counted by their address until they end', async () => {
  const { events, get } = fakeOrders()
  const own = createPaymentHandler(stubOrders({ events, get }), {
    basePath: '/payments',
    authorize: () => undefined,
  })
  const ask = limitRequests(own, 120, 2)
  const open = (address: string) =>
    ask(
      new Request('https://shop.test/payments/orders/one/events', {
        headers: { authorization: `Bearer ${token}` },
      }),
      address,
    )
  const statusOf = async (address: string) => {
    const { status, body } = await open(address)
    await body?.cancel()
    return status
  }
  const held = await Promise.all([open('a'), open('a'), open('a')])
  expect(held.map(({ status }) => status)).toEqual([200, 200, 429])
  expect((await ask(requestWith(token), 'a')).status).toBe(200)
  expect(await statusOf('b')).toBe(200)
  await Promise.all(held.slice(0, 2).map(({ body }) => body?.cancel()))
  await vi.waitFor(async () => expect(await statusOf('a')).toBe(200), 60_000)
})

test('in front of the handler, buyers are counted by their connection', async () => {
  const app = new Hono()
  limitBuyers(app, handle)
  app.all('/payments/*', ({ req }) => handle(req.raw))
  const server = createServer(getRequestListener((...it) => app.fetch(...it)))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const base = `http://127.0.0.1:${port}/payments`
  const statusOf = async (path: string) =>
    (await fetch(`${base}${path}`)).status
  for (let count = 0; count < 120; count++)
    expect(await statusOf('/orders/one')).toBe(404)
  expect(await statusOf('/orders/one')).toBe(429)
  expect(await statusOf('/openapi.json')).toBe(200)
  expect(await statusOf('/merchant/orders')).toBe(401)
})
