import type { Orders } from 'countersign/orders'
import { expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { openStub, order, reasonOf } from '../support/httpStub.js'

const taken: unknown[] = []
const ask = openStub({
  accept: async ({ payment }) => {
    taken.push(payment)
    return { ok: true, order, at: undefined }
  },
  draft: (async (parameters: unknown) => {
    taken.push(parameters)
    return { order, payment: {}, buyerToken: '' }
  }) as unknown as Orders['draft'],
  void: async () => ({ ok: true, order, spendableUntil: undefined }),
})

const address = `0x${'aA'.repeat(20)}`
const payment = {
  primaryType: 'ReceiveWithAuthorization',
  domain: {
    name: 'USD Coin',
    version: '2',
    chainId: 31337,
    verifyingContract: address,
  },
  message: {
    from: address,
    to: address,
    value: '1',
    validAfter: '0',
    validBefore: '9',
    nonce: `0x${'Ee'.repeat(32)}`,
  },
  signature: `0x${'1f'.repeat(65)}`,
}

const json = { 'content-type': 'application/json' }
const post = (
  body: RequestInit['body'],
  headers: Record<string, string> = json,
) =>
  ask('/payments/orders/one/payment', {
    method: 'POST',
    body: body ?? null,
    headers,
  })

test('a payment is taken as it was sent', async () => {
  taken.length = 0
  expect((await post(JSON.stringify(payment))).status).toBe(200)
  expect(taken).toEqual([payment])
})

test.each([
  'application/json',
  'Application/JSON',
  'application/json; charset=utf-8',
  'application/json;charset="UTF-8"',
])('%s is JSON', async (type) => {
  const sent = post(JSON.stringify(payment), { 'content-type': type })
  expect((await sent).status).toBe(200)
})

test.each([
  'text/plain',
  'text/plain; application/json',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=application/json',
  'application/json-patch+json',
  'application/problem+json',
  'application/json, text/plain',
  'application/json; charset=utf-16',
  'application',
  '',
])('%s is not JSON', async (type) => {
  const sent = post(JSON.stringify(payment), { 'content-type': type })
  expect(await reasonOf(sent)).toEqual([415, 'wrongContentType'])
})

test('a body of no type is none', async () => {
  const body = new TextEncoder().encode(JSON.stringify(payment))
  expect(await reasonOf(post(body, {}))).toEqual([415, 'wrongContentType'])
})

test('where nothing is asked for, nothing need be sent', async () => {
  const path = '/payments/merchant/orders/one/void'
  const send = (init: RequestInit) => ask(path, { method: 'POST', ...init })
  expect((await send({})).status).toBe(200)
  expect((await send({ headers: json })).status).toBe(200)
  expect((await send({ headers: json, body: '{}' })).status).toBe(200)
  expect(await reasonOf(send({ headers: json, body: '{"a":1}' }))).toEqual([
    ...[400, 'invalidField', 'a'],
  ])
  expect(
    await reasonOf(send({ headers: { 'content-type': 'text/plain' } })),
  ).toEqual([...[415, 'wrongContentType']])
})

test.each([
  ['nothing', ''],
  ['a word', 'payment'],
  ['half of it', JSON.stringify(payment).slice(0, -1)],
  ['two', `${JSON.stringify(payment)}{}`],
  ['bytes that are no text', new Uint8Array([0x22, 0xff, 0xfe, 0x22])],
  ['null', 'null'],
  ['a list', '[]'],
  ['a text', '"payment"'],
  ['a number', '1e999'],
  ['deep lists', '['.repeat(30_000)],
  ['deep lists with an end', '['.repeat(30_000) + ']'.repeat(30_000)],
])('%s is no payment', async (_, body) => {
  expect(await reasonOf(post(body))).toEqual([400, 'invalidField', 'body'])
})

test.each<[string, (it: typeof payment) => object]>([
  ['signature', ({ signature, ...rest }) => rest],
  ['signature', (it) => ({ ...it, signature: '0x' })],
  ['signature', (it) => ({ ...it, signature: `${it.signature}0` })],
  ['signature', (it) => ({ ...it, signature: `0x${'00'.repeat(16_385)}` })],
  ['message.value', (it) => ({ ...it, message: { ...it.message, value: 1 } })],
  [
    'message.value',
    (it) => ({ ...it, message: { ...it.message, value: '01' } }),
  ],
  [
    'message.value',
    (it) => ({ ...it, message: { ...it.message, value: '-1' } }),
  ],
  [
    'message.value',
    (it) => ({ ...it, message: { ...it.message, value: '1'.repeat(79) } }),
  ],
  ['message.from', (it) => ({ ...it, message: { ...it.message, from: '0x' } })],
  [
    'domain.chainId',
    (it) => ({ ...it, domain: { ...it.domain, chainId: 1.5 } }),
  ],
  ['domain.salt', (it) => ({ ...it, domain: { ...it.domain, salt: '0x' } })],
  ['from', (it) => ({ ...it, from: address })],
  [
    '__proto__',
    (it) => JSON.parse(`{"__proto__":{},${JSON.stringify(it).slice(1)}`),
  ],
  ['primaryType', (it) => ({ ...it, primaryType: 'Permits' })],
])('a malformed %s is named', async (field, change) => {
  expect(await reasonOf(post(JSON.stringify(change(payment))))).toEqual([
    ...[400, 'invalidField', field],
  ])
})

test('a signature in the wrong place is not repeated', async () => {
  const { signature, ...unsigned } = payment
  const bodies = [
    { ...payment, [signature]: 1 },
    { ...unsigned, signature: { [signature]: signature } },
    { ...payment, primaryType: signature },
    { ...payment, message: { ...payment.message, nonce: signature } },
    { ...payment, domain: { ...payment.domain, name: signature.repeat(9) } },
    { ...payment, domain: { ...payment.domain, chainId: signature } },
    [signature],
    signature,
  ]
  for (const body of bodies) {
    const response = await post(JSON.stringify(body))
    expect(response.status).toBe(400)
    expect(await response.text()).not.toContain('1f'.repeat(16))
  }
})

test('what is said of a field is ours, whatever zod is told to say', async () => {
  z.config({ customError: ({ input }) => JSON.stringify(input) })
  onTestFinished(() => {
    z.config({ customError: undefined as never })
  })
  const detailOf = async (body: object) =>
    (await (await post(JSON.stringify(body))).json()).detail
  const { signature } = payment
  expect([
    await detailOf({ ...payment, domain: signature }),
    await detailOf({ ...payment, primaryType: signature }),
    await detailOf({ ...payment, signature: `${signature}f` }),
    await detailOf({
      ...payment,
      domain: { ...payment.domain, name: signature.repeat(2) },
    }),
    await detailOf({ ...payment, from: signature }),
  ]).toEqual([
    'domain must be of type object.',
    'primaryType must be ReceiveWithAuthorization or TransferWithAuthorization or Permit.',
    'signature must be a signature in hex.',
    'domain.name is malformed.',
    'from is not a known field.',
  ])
})

test('a body is read no further than its limit', async () => {
  let sent = 0
  const endless = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      sent += 16_384
      controller.enqueue(new Uint8Array(16_384).fill(0x20))
    },
  })
  const response = await ask('/payments/orders/one/payment', {
    method: 'POST',
    headers: json,
    body: endless,
    duplex: 'half',
  } as RequestInit)
  expect(await reasonOf(response)).toEqual([413, 'tooLarge'])
  expect(sent).toBeLessThan(160_000)
})

test('a body may have 65536 bytes and not one more', async () => {
  const text = JSON.stringify(payment)
  expect((await post(text.padEnd(65_536))).status).toBe(200)
  expect(await reasonOf(post(text.padEnd(65_537)))).toEqual([413, 'tooLarge'])
})

test('a length that is too great is refused before anything is read', async () => {
  const unread = new ReadableStream<Uint8Array>({ pull: () => {} })
  const sent = ask('/payments/orders/one/payment', {
    method: 'POST',
    headers: { ...json, 'content-length': '65537' },
    body: unread,
    duplex: 'half',
  } as RequestInit)
  expect(await reasonOf(sent)).toEqual([413, 'tooLarge'])
})

test('a body that breaks off is malformed', async () => {
  const broken = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.error(new Error('gone')),
  })
  const sent = ask('/payments/orders/one/payment', {
    method: 'POST',
    headers: json,
    body: broken,
    duplex: 'half',
  } as RequestInit)
  expect(await reasonOf(sent)).toEqual([400, 'invalidField', 'body'])
})

test('a draft says what it says, integers as text', async () => {
  taken.length = 0
  const response = await ask('/payments/merchant/orders', {
    method: 'POST',
    headers: { ...json, 'idempotency-key': 'cart/7' },
    body: JSON.stringify({ amount: '1', window: '60', metadata: { a: [1] } }),
  })
  expect(response.status).toBe(201)
  expect(response.headers.get('location')).toBe('/payments/merchant/orders/one')
  expect(taken).toEqual([
    { amount: '1', orderId: 'cart/7', window: 60n, metadata: { a: [1] } },
  ])
})

test('metadata is drafted as it was sent, whatever its members are called', async () => {
  taken.length = 0
  const metadata =
    '{"__proto__":{"a":1},"b":{"__proto__":2},"constructor":{"prototype":3}}'
  await ask('/payments/merchant/orders', {
    method: 'POST',
    headers: json,
    body: `{"amount":"1","metadata":${metadata}}`,
  })
  const [drafted] = taken
  expect(JSON.stringify(Object(drafted).metadata)).toBe(metadata)
})

test.each([
  ['Idempotency-Key', { 'idempotency-key': '.' }],
  ['Idempotency-Key', { 'idempotency-key': '..' }],
  ['Idempotency-Key', { 'idempotency-key': '' }],
  ['Idempotency-Key', { 'idempotency-key': 'x'.repeat(129) }],
  ['Idempotency-Key', { 'idempotency-key': 'countersign-test-1' }],
])('an order cannot be called by this %s: %o', async (field, headers) => {
  const sent = ask('/payments/merchant/orders', {
    method: 'POST',
    body: '{"amount":"1"}',
    headers: { ...json, ...headers },
  })
  expect(await reasonOf(sent)).toEqual([400, 'invalidField', field])
})

test.each([
  ['state', 'state=paid'],
  ['state', 'state=stored,'],
  ['state', 'state='],
  ['payer', 'payer=0x12'],
  ['chainId', 'chainId=0'],
  ['chainId', 'chainId=1e3'],
  ['before', 'before=-1'],
  ['before', `before=${'9'.repeat(19)}`],
  ['limit', 'limit=0'],
  ['limit', 'limit=1000'],
  ['page', 'page=2'],
  ['query', 'limit=1&limit=2'],
  ['__proto__', '__proto__=1'],
])('a list is asked for by known filters: %s of ?%s', async (field, query) => {
  expect(await reasonOf(ask(`/payments/merchant/orders?${query}`))).toEqual([
    ...[400, 'invalidField', field],
  ])
})

test.each([
  ['after', 'after=latest'],
  ['orderId', 'orderId='],
  ['orderId', `orderId=${'x'.repeat(129)}`],
  ['query', 'orderId=one&orderId=two'],
  ['order', 'order=one'],
])(
  'events are asked for by cursor and order: %s of ?%s',
  async (field, query) => {
    expect(await reasonOf(ask(`/payments/merchant/events?${query}`))).toEqual([
      ...[400, 'invalidField', field],
    ])
  },
)
