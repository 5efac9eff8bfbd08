import { createPaymentHandler } from 'countersign/http'
import { expect, test } from 'vitest'
import { createRoutes } from '../../../src/http/routes/routes.js'
import {
  openStub,
  order,
  reasonOf,
  stubOrders,
  token,
} from '../support/httpStub.js'

const ask = openStub()

test('an order is read at one address', async () => {
  const response = await ask('/payments/orders/one')
  expect(response.status).toBe(200)
  expect(await response.json()).toEqual({
    amount: '12.5',
    chainId: 31337,
    token: order.token,
    recipient: order.recipient,
    window: { validAfter: '100', validBefore: '1000' },
    state: 'drafted',
    transaction: null,
    refunds: [],
  })
})

test.each([
  '/',
  '/payments',
  '/payments/',
  '/payments/orders',
  '/payments/orders/',
  '/payments//orders/one',
  '/payments/orders//one',
  '/payments/orders/one/',
  '/payments/orders/one/payment/',
  '/payments/orders/one/nothing',
  '/payments/Orders/one',
  '/PAYMENTS/orders/one',
  '/payments/../orders/one',
  '/payments/x/../../orders/one',
  '/payments/orders/one/..',
  '/payments/orders/%2e%2e',
  '/payments/orders%2Fone',
  '/paymentsorders/one',
  '/xpayments/orders/one',
  '/orders/one',
  '/payments/merchant',
  '/payments/merchant/',
  '/payments/merchant/orders/one/capture/again',
  '/payments/openapi.json/',
])('nothing is served at %s', async (path) => {
  expect(await reasonOf(ask(path))).toEqual([404, 'noRoute'])
})

test.each([
  '%',
  '%E0%A4%A',
  '%ff',
  '%00',
  '%0a',
  'x'.repeat(129),
  'two',
  '%20',
])('no order is called %s', async (id) => {
  expect(await reasonOf(ask(`/payments/orders/${id}`))).toEqual([
    404,
    'orderNotFound',
  ])
})

test('an id is read as it was written into the address', async () => {
  const asked: string[] = []
  const ask = openStub({
    getForBuyer: async ({ orderId }) => {
      asked.push(orderId)
      return { order, payment: undefined }
    },
  })
  const ids = ['a/b', 'a b', 'ä', '..%2F', 'a?b#c', '😀', 'x'.repeat(128)]
  for (const id of ids) await ask(`/payments/orders/${encodeURIComponent(id)}`)
  expect(asked).toEqual(ids)
})

test.each(['PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS', 'BREW'])(
  '%s is no method of any route, and each says which are',
  async (method) => {
    for (const { who, path, method: own } of createRoutes('')) {
      if (who === 'prober' && method === 'HEAD') continue
      const at = `/payments${path.replace(/\{\w+\}/g, 'one')}`
      const response = await ask(at, { method })
      expect([at, response.status]).toEqual([at, 405])
      expect(response.headers.get('allow')?.split(', ')).toContain(own)
    }
  },
)

test('a method that another route has is refused, with the ones there are', async () => {
  const response = await ask('/payments/orders/one', { method: 'POST' })
  expect(response.headers.get('allow')).toBe('GET')
  expect(await reasonOf(response)).toEqual([405, 'methodNotAllowed'])
  const both = await ask('/payments/orders/one/payment', { method: 'PUT' })
  expect(both.headers.get('allow')).toBe('GET, POST')
})

test('without a base path the routes begin at the root', async () => {
  const ask = openStub({}, { basePath: undefined })
  expect((await ask('/orders/one')).status).toBe(200)
  expect(await reasonOf(ask('/payments/orders/one'))).toEqual([404, 'noRoute'])
})

test.each([
  ['basePath', { basePath: 'payments' }],
  ['basePath', { basePath: '/payments/' }],
  ['basePath', { basePath: '/' }],
  ['basePath', { basePath: '/a//b' }],
  ['basePath', { basePath: '/a/../b' }],
  ['basePath', { basePath: '/pay ments' }],
  ['basePath', { basePath: '/payments?a=b' }],
  ['authorize', { authorize: undefined as never }],
  ['cors.origins[0]', { cors: { origins: ['*'] } }],
  ['cors.origins[1]', { cors: { origins: ['https://a.test', 'null'] } }],
  ['cors.origins[0]', { cors: { origins: ['https://a.test/'] } }],
  ['cors.origins[0]', { cors: { origins: ['https://*.a.test/'] } }],
  ['origins[0]', { origins: ['shop.test'] }],
  ['cors.origins', { cors: { origins: '*' as never } }],
  ['subscriptions', { subscriptions: {} as never }],
  ['origins', { origins: 'https://shop.test' as never }],
])('a malformed %s is refused at once: %o', (field, changes) => {
  const create = () =>
    createPaymentHandler(stubOrders(), {
      authorize: () => undefined,
      ...changes,
    })
  expect(create).toThrow(expect.objectContaining({ name: 'InvalidFieldError' }))
  expect(create).toThrow(field)
})

test.each([
  `Bearer ${token.toUpperCase()}`,
  `Bearer ${token}, Bearer ${token}`,
  `Bearer ${token} `.repeat(2),
  `Bearer ${token}x`,
  `Bearer${token}`,
  `Basic ${token}`,
  'Bearer ',
  '',
])('%s shows no token of the order', async (authorization) => {
  const response = ask('/payments/orders/one', { headers: { authorization } })
  expect(await reasonOf(response)).toEqual([404, 'orderNotFound'])
})

test('every answer but the document is kept by nobody', async () => {
  for (const path of ['/payments/orders/one', '/payments/orders/two', '/no']) {
    const { headers } = await ask(path)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
  }
  const { headers } = await ask('/payments/openapi.json')
  expect(headers.get('cache-control')).toBe('max-age=300')
})
