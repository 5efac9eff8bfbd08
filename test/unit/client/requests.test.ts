import { createBuyerClient, createMerchantClient } from 'countersign/client'
import { OrderNotFoundError } from 'countersign/orders'
import { StoreError } from 'countersign/store'
import { expect, test } from 'vitest'
import { clientsOf, handlerOf, serveTo } from '../support/clientServer.js'
import { order, token } from '../support/httpStub.js'

/** A problem as a server writes it. */
const problem = (
  status: number,
  reason: string,
  { retryAfter, detail = 'Some words.' }: Partial<Record<string, string>> = {},
) =>
  Response.json(
    { status, reason, detail },
    { status, headers: retryAfter ? { 'retry-after': retryAfter } : {} },
  )

test('a refusal has its code, the server’s words, and nothing to wait for', async () => {
  const { buyer, merchant, asked } = await serveTo(
    handlerOf({
      get: async ({ orderId }) => {
        throw new OrderNotFoundError({ orderId })
      },
    }),
  )
  await expect(
    buyer.requestPayment({ payer: order.token }),
  ).rejects.toMatchObject({
    name: 'ProblemError',
    reason: 'notOpen',
    status: 409,
    message:
      'The order is drafted, which does not allow this. The time to pay is over: the shop can reauthorize it.',
    retryable: false,
    retryAfter: undefined,
  })
  await expect(merchant.get({ orderId: 'a/b' })).rejects.toMatchObject({
    reason: 'orderNotFound',
    status: 404,
  })
  const refund = { orderId: 'one', refundId: 'one', amount: 5 as never }
  await expect(merchant.refund(refund)).rejects.toMatchObject({
    reason: 'invalidField',
    field: 'amount',
  })
  expect(asked).toEqual([
    'GET /payments/orders/one/payment',
    'GET /payments/merchant/orders/a%2Fb',
    'POST /payments/merchant/orders/one/refunds',
  ])
})

test('what fails for a moment is asked again', async () => {
  let failures = 2
  const { merchant, asked, ...told } = await serveTo(
    handlerOf({
      get: async () => {
        if (failures-- > 0) throw new StoreError('is away', true)
        return order
      },
    }),
  )
  expect((await merchant.get({ orderId: 'one' })).state).toBe('drafted')
  expect(asked).toHaveLength(3)
  expect(told.failures).toEqual(Array(2).fill('ProblemError storeUnavailable'))
})

test('a request is repeated as often as the client may, and then fails', async () => {
  const { buyer, asked } = await serveTo(
    () => new Response('<html>', { status: 502 }),
    { retries: 1 },
  )
  await expect(buyer.get()).rejects.toMatchObject({
    name: 'ServerError',
    status: 502,
    retryable: true,
    message: expect.stringMatching(
      /^GET http.*\/payments\/orders\/one got status 502/,
    ),
  })
  expect(asked).toHaveLength(2)
})

test.each<[string, () => Response]>([
  ['another page', () => new Response('<html>')],
  ['a missing route', () => new Response('no', { status: 404 })],
  ['a refusal for good', () => problem(429, 'tooManyTries')],
  [
    'a refusal for a long time',
    () => problem(409, 'notFinal', { retryAfter: '60' }),
  ],
  [
    'another place',
    () => new Response(null, { status: 307, headers: { location: '/a' } }),
  ],
])('after %s nothing is asked again', async (_, answer) => {
  const { buyer, asked } = await serveTo(answer)
  await expect(buyer.get()).rejects.toThrow(expect.any(Error))
  expect(asked).toEqual(['GET /payments/orders/one'])
})

test('a wait is said in milliseconds', async () => {
  const { merchant } = await serveTo(() =>
    problem(409, 'notFinal', { retryAfter: '60' }),
  )
  const refund = { orderId: 'one', refundId: 'one' }
  await expect(merchant.refund(refund)).rejects.toMatchObject({
    retryable: true,
    retryAfter: 60_000,
  })
})

test('a window is not opened twice', async () => {
  const { merchant, asked } = await serveTo(() =>
    problem(503, 'storeUnavailable', { retryAfter: '1' }),
  )
  await expect(merchant.reauthorize({ orderId: 'one' })).rejects.toMatchObject({
    reason: 'storeUnavailable',
  })
  expect(asked).toHaveLength(1)
})

test('no answer is a failure that may pass, and names no token', async () => {
  const { buyer, failures } = clientsOf({
    url: 'http://127.0.0.1:1/payments',
    retries: 1,
  })
  const error = await buyer.get().catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({
    name: 'ServerError',
    message: 'GET http://127.0.0.1:1/payments/orders/one got no answer.',
    status: undefined,
  })
  expect(JSON.stringify(error)).not.toContain(token)
  expect(failures).toEqual(['ServerError no answer'])
})

test('a server that is not ours cannot write secrets into errors', async () => {
  const signature = `0x${'cd'.repeat(65)}`
  const detail = `Bearer ${token} and ${signature}`
  const { buyer } = await serveTo(() => problem(400, 'own', { detail }))
  await expect(buyer.get()).rejects.toMatchObject({
    message: 'Bearer … and 0x…',
    reason: 'own',
  })
})

test('a server that is not ours cannot write a short key into any part of an error', async () => {
  const { merchant } = await serveTo(({ headers }) => {
    const echo = headers.get('authorization') ?? ''
    return Response.json(
      { reason: echo, field: echo, detail: `You sent ${echo}` },
      { status: 400 },
    )
  })
  await expect(merchant.health()).rejects.toMatchObject({
    message: 'You sent Bearer …',
    reason: 'Bearer …',
    field: 'Bearer …',
  })
})

test('a problem without words is said by its code', async () => {
  const { buyer } = await serveTo(() =>
    Response.json({ reason: 'own', detail: [5] }, { status: 400 }),
  )
  await expect(buyer.get()).rejects.toMatchObject({
    reason: 'own',
    message: 'The request was refused: own.',
  })
})

test('a signal ends a request, a pause, and what has not begun', async () => {
  const stop = new AbortController()
  const reason = new Error('the page is closed')
  const { buyer, asked, failures } = await serveTo(() => {
    if (asked.length > 1) stop.abort(reason)
    return asked.length > 1
      ? new Promise<Response>(() => undefined)
      : problem(503, 'overloaded', { retryAfter: '1' })
  })
  const { signal } = stop
  await expect(buyer.get({ signal })).rejects.toBe(reason)
  expect(failures).toEqual(['ProblemError overloaded'])
  await expect(buyer.get({ signal })).rejects.toBe(reason)
  expect(asked).toHaveLength(2)

  const paused = new AbortController()
  const waiting = await serveTo(
    () => problem(503, 'own', { retryAfter: '5' }),
    {
      onRetry: () => paused.abort(reason),
    },
  )
  const asking = waiting.buyer.get({ signal: paused.signal })
  await expect(asking).rejects.toBe(reason)
})

test.each([
  ['url', { url: 'https://shop.test/payments?a=b' }],
  ['url', { url: 'no address' }],
  ['url', { url: 'mailto:shop.test' }],
  ['url', { url: 'https://user:word@shop.test' }],
  ['url', { url: undefined as never }],
  ['orderId', { orderId: '' }],
  ['buyerToken', { buyerToken: 5 as never }],
  ['parameters', { retires: 5 } as never],
])('a malformed %s is refused at once: %o', (field, changes: object) => {
  const given = { url: 'https://shop.test', orderId: 'one', buyerToken: token }
  const create = () => createBuyerClient({ ...given, ...changes })
  expect(create).toThrow(expect.objectContaining({ name: 'InvalidFieldError' }))
  expect(create).toThrow(field)
  expect(create).not.toThrow(/word|\?a=b/)
})

test('a merchant may be known by a cookie, and an id has to be one', async () => {
  const { asked, requests, url } = await serveTo(() => Response.json({}))
  const merchant = createMerchantClient({ url: `${url}/` })
  await merchant.health()
  expect(asked).toEqual(['GET /payments/merchant/health'])
  expect(requests[0]?.headers.get('authorization')).toBeNull()
  expect(() => merchant.get({ orderId: '' })).toThrow('orderId')
  expect(() => createMerchantClient({ url, key: '' })).toThrow('key')
})
