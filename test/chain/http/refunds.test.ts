import { startDevChain } from 'countersign/devchain'
import type { Principal } from 'countersign/http'
import type { Order, Refund } from 'countersign/orders'
import type { Hex } from 'viem'
import { afterAll, afterEach, expect, test, vi } from 'vitest'
import {
  type HttpDesk,
  leaked,
  openDesk,
  sellPaid,
} from '../support/httpDesk.js'
import { storedOrder } from '../support/shop.js'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())
afterEach(() => {
  vi.restoreAllMocks()
})

type Wire<value> = {
  [name in keyof value]: value[name] extends bigint ? string : value[name]
}
type Taken = { refund: Wire<Refund>; order: Wire<Order> }

type RefundDesk = {
  desk: HttpDesk
  secrets: Hex[]
  /** An order of 12.50 that is captured. */
  sell: () => Promise<{ id: string; payer: string }>
  refund: (
    id: string,
    body: Record<string, unknown>,
  ) => ReturnType<typeof ask<Taken & { reason: string; field?: string }>>
  allow: (refunds: Principal['refunds']) => void
}

const ask = <body>(
  desk: HttpDesk,
  ...given: Parameters<HttpDesk['ask']>
): Promise<{ status: number; text: string; body: body }> =>
  desk.ask<body>(...given)

/** A desk whose caller may refund as `allow` says. */
async function openRefunds(allowed: Principal['refunds']): Promise<RefundDesk> {
  let refunds = allowed
  let recipients: Principal['recipients'] = []
  const desk = await openDesk(chain, {
    handler: { authorize: () => ({ recipients, refunds }) },
  })
  recipients = [desk.seller]
  const secrets: Hex[] = []
  return {
    desk,
    secrets,
    sell: async () => {
      const { id, signed, buyer } = await sellPaid(chain, desk)
      secrets.push(signed.signature)
      const { status } = await desk.ask(`POST /merchant/orders/${id}/capture`, {
        headers: { prefer: 'wait=25' },
      })
      expect(status).toBe(200)
      return { id, payer: buyer.address.toLowerCase() }
    },
    refund: (id, body) =>
      ask(desk, `POST /merchant/orders/${id}/refunds`, { body }),
    allow: (given) => {
      refunds = given
    },
  }
}

test('a refund is requested once for each refundId, and read again', async () => {
  const { desk, secrets, sell, refund } = await openRefunds({ perDay: '100' })
  const { id, payer } = await sell()
  const body = { refundId: 'r/1', amount: '2.50', reason: 'duplicate' }
  const first = await refund(id, body)
  expect(first.status).toBe(200)
  expect(first.body.refund).toMatchObject({
    refundId: 'r/1',
    orderId: id,
    state: 'requested',
    amount: '2.5',
    value: '2500000',
    to: payer,
    reason: 'duplicate',
    reserved: true,
  })
  expect(first.body.order.refundable).toBe('10000000')
  expect((await refund(id, body)).text).toBe(first.text)
  expect((await refund(id, { refundId: 'r/1' })).text).toBe(first.text)

  const rest = await refund(id, { refundId: 'rest' })
  expect(rest.body.refund.value).toBe('10000000')
  const path = `GET /merchant/orders/${id}/refunds`
  expect((await ask(desk, path)).body).toEqual({
    refunds: [first.body.refund, rest.body.refund],
    refunded: '0',
    refundable: '0',
  })
  const one = await ask(desk, `${path}/${encodeURIComponent('r/1')}`)
  expect(one.body).toEqual(first.body.refund)
  expect(leaked(desk.told, secrets)).toEqual([])
})

test('a refund that cannot be is refused by its name', async () => {
  const { desk, sell, refund } = await openRefunds({ perDay: '1000' })
  const { id } = await sell()
  const reasonOf = async (orderId: string, body: Record<string, unknown>) => {
    const answer = await refund(orderId, body)
    return [answer.status, answer.body.reason, answer.body.field]
  }
  await refund(id, { refundId: 'one', amount: '5' })
  expect(await reasonOf(id, { refundId: 'one', amount: '6' })).toEqual([
    ...[409, 'refundConflict', undefined],
  ])
  expect(await reasonOf(id, { refundId: 'two', amount: '8' })).toEqual([
    ...[409, 'exceedsCaptured', undefined],
  ])
  expect(await reasonOf('none', { refundId: 'one' })).toEqual([
    ...[404, 'orderNotFound', undefined],
  ])
  const { id: unpaid } = await storedOrder(chain, desk)
  expect(await reasonOf(unpaid, { refundId: 'one' })).toEqual([
    ...[409, 'notCaptured', undefined],
  ])
  const malformed: [string, Record<string, unknown>][] = [
    ['refundId', {}],
    ['refundId', { refundId: '' }],
    ['refundId', { refundId: '..' }],
    ['refundId', { refundId: 'a\u0000' }],
    ['amount', { refundId: 'x', amount: '0' }],
    ['amount', { refundId: 'x', amount: '1.1234567' }],
    ['amount', { refundId: 'x', amount: 5 }],
    ['reason', { refundId: 'x', reason: 'because' }],
    ['to', { refundId: 'x', to: desk.seller }],
  ]
  for (const [field, body] of malformed)
    expect(await reasonOf(id, body)).toEqual([400, 'invalidField', field])
  const missing = await ask<{ reason: string }>(
    desk,
    `GET /merchant/orders/${id}/refunds/none`,
  )
  expect([missing.status, missing.body.reason]).toEqual([404, 'refundNotFound'])
})

test('a merchant who may capture may not refund unless it is allowed', async () => {
  const { desk, sell, refund } = await openRefunds(undefined)
  const { id } = await sell()
  const refused = await refund(id, { refundId: 'one' })
  expect([refused.status, refused.body.reason]).toEqual([
    403,
    'refundForbidden',
  ])
  const { refunds } = await desk.orders.get({ orderId: id })
  expect(refunds).toEqual([])
  const list = await ask(desk, `GET /merchant/orders/${id}/refunds`)
  expect(list.body).toMatchObject({ refunds: [], refundable: '12500000' })
})

test('refunds of one day stay within the limit, also for another access', async () => {
  const { desk, sell, refund, allow } = await openRefunds({ perDay: '10.00' })
  const { id } = await sell()
  const { id: other } = await sell()
  const tooMuch = [403, 'refundLimit']
  const statusOf = async (orderId: string, body: Record<string, unknown>) => {
    const answer = await refund(orderId, body)
    return [answer.status, answer.body.reason]
  }
  expect(await statusOf(id, { refundId: 'all' })).toEqual(tooMuch)
  const body = { refundId: 'one', amount: '6' }
  expect(await statusOf(id, body)).toEqual([200, undefined])
  // The same again reserves nothing more.
  expect(await statusOf(id, body)).toEqual([200, undefined])
  const more = { refundId: 'two', amount: '4.000001' }
  expect(await statusOf(other, more)).toEqual(tooMuch)
  expect((await desk.orders.get({ orderId: other })).refunds).toEqual([])
  expect(await statusOf(other, { refundId: 'two', amount: '4' })).toEqual([
    ...[200, undefined],
  ])
  allow({ perDay: '10.5' })
  expect(await statusOf(other, { refundId: '3', amount: '1' })).toEqual(tooMuch)
  expect(await statusOf(other, { refundId: '3', amount: '0.5' })).toEqual([
    ...[200, undefined],
  ])
  const tomorrow = Date.now() + 86_400_000
  vi.spyOn(Date, 'now').mockReturnValue(tomorrow)
  expect(await statusOf(other, { refundId: '4', amount: '8' })).toEqual([
    ...[200, undefined],
  ])
})

test('requests that come at once stay within the limit together', async () => {
  const { sell, refund } = await openRefunds({ perDay: '10' })
  const orders = await Promise.all([sell(), sell(), sell(), sell()])
  const answers = await Promise.all(
    orders.map(({ id }) => refund(id, { refundId: 'one', amount: '4' })),
  )
  const statuses = answers.map(({ status }) => status).sort()
  expect(statuses).toEqual([200, 200, 403, 403])
})

test.each(['0', '0.00'])('a limit of %s refunds nothing', async (perDay) => {
  const { sell, refund } = await openRefunds({ perDay })
  const { id } = await sell()
  const { status, body } = await refund(id, { refundId: 'one', amount: '1' })
  expect([status, body.reason]).toEqual([403, 'refundLimit'])
})

test('a limit that is no amount of the token refunds nothing', async () => {
  const { sell, refund, allow } = await openRefunds({ perDay: '1.0000001' })
  const { id } = await sell()
  const wrong = ['1.0000001', '-1', '', 'all', 5 as unknown as string]
  for (const perDay of wrong) {
    allow({ perDay })
    const answer = await refund(id, { refundId: 'one', amount: '1' })
    expect([perDay, answer.status]).toEqual([perDay, 500])
  }
})
