import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { createPaymentHandler } from 'countersign/http'
import { Hono } from 'hono'
import { expect, onTestFinished, test } from 'vitest'
import { order, reasonOf, stubOrders, token } from '../support/httpStub.js'

const handle = createPaymentHandler(
  stubOrders({ accept: async () => ({ ok: true, order, at: undefined }) }),
  { basePath: '/payments', authorize: () => undefined },
)

/** The handler behind a server of Node, by the address it is reached at. */
async function startServer(
  serve: (request: Request) => Response | Promise<Response>,
): Promise<string> {
  const server = createServer(getRequestListener(serve))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return `http://127.0.0.1:${port}`
}

const app = new Hono()
app.all('/payments/*', ({ req }) => handle(req.raw))

test.each([
  ['a server of Node', handle],
  ['Hono', (request: Request) => app.fetch(request)],
])('behind %s the answers are the same', async (_, serve) => {
  const base = await startServer(serve)
  const url = `${base}/payments/orders/one`
  const headers = { authorization: `Bearer ${token}` }
  const json = { ...headers, 'content-type': 'application/json' }
  const read = await fetch(url, { headers })
  expect([read.status, read.headers.get('cache-control')]).toEqual([
    ...[200, 'no-store'],
  ])
  expect(await reasonOf(fetch(url))).toEqual([404, 'orderNotFound'])
  const post = (body: string, headers: Record<string, string>) =>
    fetch(`${url}/payment`, { method: 'POST', headers, body })
  expect(await reasonOf(post('{}', json))).toEqual([
    ...[400, 'invalidField', 'primaryType'],
  ])
  expect(await reasonOf(post('{}', headers))).toEqual([415, 'wrongContentType'])
  expect(
    await reasonOf(post('{}', { ...json, origin: 'http://a.test' })),
  ).toEqual([...[403, 'crossSite']])
  expect(await reasonOf(post('{}', { ...json, origin: base }))).toEqual([
    ...[400, 'invalidField', 'primaryType'],
  ])
  expect(await reasonOf(fetch(`${base}/payments//orders/one`))).toEqual([
    ...[404, 'noRoute'],
  ])
  expect(await reasonOf(post(' '.repeat(65_537), json))).toEqual([
    ...[413, 'tooLarge'],
  ])
})

test('several answers at once do not get in each other’s way', async () => {
  const base = await startServer(handle)
  const headers = { authorization: `Bearer ${token}` }
  const ids = Array.from({ length: 200 }, (_, at) => (at % 2 ? 'one' : 'two'))
  const answers = await Promise.all(
    ids.map(async (id) => {
      const { status } = await fetch(`${base}/payments/orders/${id}`, {
        headers,
      })
      return [id, status]
    }),
  )
  expect(answers).toEqual(ids.map((id) => [id, id === 'one' ? 200 : 404]))
})
