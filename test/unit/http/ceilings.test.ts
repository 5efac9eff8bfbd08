import { InvalidFieldError } from 'countersign'
import type { CaptureResult, Order, Orders } from 'countersign/orders'
import { expect, test } from 'vitest'
import { openStub, order, reasonOf } from '../support/httpStub.js'

const ceiling: Order = {
  ...order,
  state: 'stored',
  kind: 'checkout',
  amount: '50',
  value: 50_000_000n,
  atMost: '50',
}

const address = `0x${'aa'.repeat(20)}`
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
    value: '50000000',
    validAfter: '0',
    validBefore: '9',
    nonce: `0x${'ee'.repeat(32)}`,
  },
  checkout: {
    recipient: address,
    operator: address,
    salt: `0x${'5a'.repeat(32)}`,
  },
}
const signature = `0x${'1f'.repeat(65)}`

const post = (
  ask: ReturnType<typeof openStub>,
  path: string,
  body?: unknown,
): Promise<Response> =>
  ask(`/payments${path}`, {
    method: 'POST',
    ...(body === undefined
      ? {}
      : {
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        }),
  })

test('a draft may name a ceiling instead of an amount', async () => {
  const asked: unknown[] = []
  const ask = openStub({
    draft: (async (parameters: unknown) => {
      asked.push(parameters)
      return { order: ceiling, payment, buyerToken: '' }
    }) as unknown as Orders['draft'],
  })
  const draft = { atMost: '50.00', payer: address }
  const response = await post(ask, '/merchant/orders', draft)

  expect(response.status).toBe(201)
  expect(asked).toEqual([
    { ...draft, orderId: undefined, window: undefined, amount: undefined },
  ])
  expect(await response.json()).toMatchObject({
    order: { kind: 'checkout', atMost: '50', amount: '50', value: '50000000' },
    payment,
  })
})

test('a capture hands the amount on, and needs no body', async () => {
  const asked: unknown[] = []
  const ask = openStub({
    capture: async ({ amount }) => {
      asked.push(amount)
      return {
        status: 'unknown',
        order: ceiling,
        resolvedBy: 'worker',
        until: 9n,
      }
    },
  })
  const path = '/merchant/orders/one/capture'
  expect((await post(ask, path, { amount: '42.10' })).status).toBe(202)
  expect((await post(ask, path, {})).status).toBe(202)
  expect((await post(ask, path)).status).toBe(202)
  expect(asked).toEqual(['42.10', undefined, undefined])
})

test.each([
  [{ amount: 42.1 }, 'amount'],
  [{ amount: null }, 'amount'],
  [{ amount: '1'.repeat(101) }, 'amount'],
  [{ atMost: '42.10' }, 'atMost'],
])('a capture with %j is refused before orders see it', async (body, field) => {
  const answer = post(openStub(), '/merchant/orders/one/capture', body)
  expect(await reasonOf(answer)).toEqual([400, 'invalidField', field])
})

test.each(['otherAmount', 'exceedsCeiling'] as const)(
  'a capture that is refused as %s is a conflict',
  async (reason) => {
    const rejected: CaptureResult = { status: 'rejected', order, reason }
    const ask = openStub({ capture: async () => rejected })
    const answer = post(ask, '/merchant/orders/one/capture', { amount: '60' })
    expect(await reasonOf(answer)).toEqual([409, reason])
  },
)

test('a capture of a ceiling without an amount names the field', async () => {
  const ask = openStub({
    capture: async () => {
      throw new InvalidFieldError(
        'amount',
        undefined,
        'given for an order with a ceiling, and at most that ceiling',
      )
    },
  })
  const answer = await post(ask, '/merchant/orders/one/capture')
  expect(await answer.json()).toMatchObject({
    status: 400,
    reason: 'invalidField',
    field: 'amount',
    detail:
      'amount must be given for an order with a ceiling, and at most that ceiling.',
  })
})

test('a payer with another open permit is a conflict', async () => {
  const ask = openStub({
    accept: async () => ({ ok: false, reason: 'permitOpen', details: {} }),
  })
  const answer = post(ask, '/orders/one/payment', { ...payment, signature })
  expect(await reasonOf(answer)).toEqual([409, 'permitOpen'])
})

const permit = {
  ...payment,
  primaryType: 'Permit',
  checkout: { recipient: address, operator: address },
}

test.each([
  ['a checkout payment', payment],
  ['a permit payment', permit],
])('%s is handed on with its terms', async (_name, unsigned) => {
  const taken: unknown[] = []
  const ask = openStub({
    accept: async ({ payment }) => {
      taken.push(payment)
      return { ok: true, order: ceiling, at: undefined }
    },
  })
  const signed = { ...unsigned, signature }
  const answer = await post(ask, '/orders/one/payment', signed)

  expect(answer.status).toBe(200)
  expect(taken).toEqual([signed])
  expect(await answer.json()).toMatchObject({ amount: '50', atMost: '50' })
})

test.each([
  [{ checkout: { ...payment.checkout, fee: '1' } }, 'checkout.fee'],
  [{ checkout: { recipient: address } }, 'checkout.operator'],
  [{ primaryType: 'Permits' }, 'primaryType'],
])('terms such as %j are malformed', async (changes, field) => {
  const answer = post(openStub(), '/orders/one/payment', {
    ...payment,
    signature,
    ...changes,
  })
  expect(await reasonOf(answer)).toEqual([400, 'invalidField', field])
})
