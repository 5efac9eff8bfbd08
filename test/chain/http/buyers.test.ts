import { startDevChain } from 'countersign/devchain'
import { memoryStore, type PaymentStore } from 'countersign/store'
import type { Hex } from 'viem'
import { afterAll, expect, test } from 'vitest'
import { fundedAccount, revoke } from '../support/desk.js'
import { startEndpoint } from '../support/endpoint.js'
import {
  type HttpDesk,
  leaked,
  openDesk,
  sell,
  sellPaid,
  signAs,
} from '../support/httpDesk.js'
import { rowsOf } from '../support/shop.js'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

const desk = await openDesk(chain)
const secrets: Hex[] = []

type Sold = Awaited<ReturnType<typeof sell>>

/** Everything a buyer can ask about an order. */
async function buyerRequests(
  { signed, buyer }: Pick<Sold, 'signed' | 'buyer'>,
  id: string,
): Promise<[request: string, body?: unknown][]> {
  return [
    [`GET /orders/${id}`],
    [`GET /orders/${id}/payment`],
    [`GET /orders/${id}/cancellation`],
    [`GET /orders/${id}/events`],
    [`POST /orders/${id}/payment`, signed],
    [`POST /orders/${id}/cancellation`, await revoke(chain, signed, buyer)],
    // What is sent by a stranger is not even looked at.
    [`POST /orders/${id}/payment`, { no: 'payment' }],
  ]
}

test('whoever has no token of the order is told the same as of no order', async () => {
  const own = await sell(chain, desk)
  const other = await sellPaid(chain, desk)
  const elsewhere = await openDesk(chain)
  const foreign = await sell(chain, elsewhere)
  secrets.push(own.signed.signature, other.signed.signature)
  const strangers: [id: string, headers: Record<string, string>][] = [
    ['no-such-order', { authorization: `Bearer ${own.token}` }],
    [foreign.id, { authorization: `Bearer ${foreign.token}` }],
    [own.id, {}],
    [own.id, { authorization: `Bearer ${other.token}` }],
    [other.id, { authorization: `Bearer ${own.token}` }],
    [own.id, { authorization: `Bearer ${own.token.toUpperCase()}` }],
    [own.id, { authorization: `Bearer ${own.token}0` }],
    [own.id, { authorization: `Bearer ${own.token}, Bearer ${own.token}` }],
    [own.id, { authorization: `Basic ${own.token}` }],
    [own.id, { authorization: own.token }],
    ['%00', {}],
    ['%E0%A4%A', {}],
    ['x'.repeat(10_000), {}],
  ]
  const answers = new Set<string>()
  for (const [id, headers] of strangers)
    for (const [request, body] of await buyerRequests(own, id)) {
      const answer = await desk.ask(request, { headers, body })
      answers.add(
        JSON.stringify([answer.status, answer.text, ...answer.headers]),
      )
    }
  expect([...answers]).toHaveLength(1)
  expect([...answers][0]).toContain('orderNotFound')
  const { order } = await rowsOf(desk, own.id)
  expect(order).toMatchObject({ state: 'drafted', tries: 0, version: 1 })
})

test.each<[string, number, (sold: Sold) => Promise<unknown>]>([
  [
    'wrongSigner',
    422,
    async ({ signed }) => {
      const someone = await fundedAccount(chain)
      const { signature } = await signAs(someone, signed)
      return { ...signed, signature }
    },
  ],
  [
    'insufficientFunds',
    422,
    async ({ payment }) => signAs(await fundedAccount(chain), payment),
  ],
  [
    'wrongAmount',
    422,
    async ({ buyer, payment }) =>
      signAs(buyer, {
        ...payment,
        message: { ...payment.message, value: 1n },
      }),
  ],
  [
    'wrongNonce',
    422,
    async ({ buyer, payment }) =>
      signAs(buyer, {
        ...payment,
        message: { ...payment.message, nonce: `0x${'ab'.repeat(32)}` },
      }),
  ],
  [
    'wrongChain',
    422,
    async ({ buyer, payment }) =>
      signAs(buyer, {
        ...payment,
        domain: { ...payment.domain, chainId: 8453 },
      }),
  ],
])('%s is a problem of its own', async (reason, status, send) => {
  const sold = await sell(chain, desk)
  const body = await send(sold)
  const { id, token } = sold
  const answer = await desk.ask(`POST /orders/${id}/payment`, { token, body })
  expect(answer).toMatchObject({ status, body: { reason, status } })
  expect(answer.headers.get('content-type')).toBe('application/problem+json')
  expect(Object.keys(answer.body)).toEqual([
    'type',
    'title',
    'status',
    'detail',
    'reason',
  ])
})

test('a wrong token costs as many reads as an order that is not there', async () => {
  const store = memoryStore()
  let reads = 0
  const counted: PaymentStore = {
    ...store,
    read: (work) =>
      store.read((tables) => {
        const find = tables.attempts.find.bind(tables.attempts)
        const { attempts } = tables
        const counting = (query: Parameters<typeof find>[0]) => {
          reads++
          return find(query)
        }
        return work({ ...tables, attempts: { ...attempts, find: counting } })
      }),
  }
  const desk = await openDesk(chain, { store: counted })
  const { id, token } = await sell(chain, desk)
  const readsOf = async (id: string, token: string) => {
    reads = 0
    await desk.ask(`GET /orders/${id}`, { token })
    return reads
  }
  expect(await readsOf(id, token)).toBe(1)
  expect(await readsOf(id, 'ab'.repeat(32))).toBe(0)
  expect(await readsOf('no-such-order', token)).toBe(0)
})

test('an address says nothing about who asks', async () => {
  const { id, token } = await sell(chain, desk)
  for (const name of ['buyerToken', 'token', 'authorization', 'access_token'])
    expect(await desk.ask(`GET /orders/${id}?${name}=${token}`)).toMatchObject({
      status: 404,
      body: { reason: 'orderNotFound' },
    })
})

test('what is for another order, or by another payer, is refused', async () => {
  const { id, token, payment, signed } = await sellPaid(chain, desk)
  const second = await signAs(await fundedAccount(chain, 12_500_000n), payment)
  const other = await sellPaid(chain, desk)
  const foreign = await revoke(chain, other.signed, other.buyer)
  secrets.push(second.signature, foreign.signature)
  const post = (what: string, body: unknown) =>
    desk.ask(`POST /orders/${id}/${what}`, { token, body })
  expect(await post('payment', second)).toMatchObject({
    status: 422,
    body: { reason: 'wrongPayer' },
  })
  expect(await post('cancellation', foreign)).toMatchObject({
    status: 409,
    body: { reason: 'otherPayment' },
  })
  expect(await post('payment', signed)).toMatchObject({
    status: 200,
    body: { state: 'stored' },
  })
})

test('after ten refusals an order takes no payment', async () => {
  const { id, token, payment, signed } = await sell(chain, desk)
  const poor = await signAs(await fundedAccount(chain), payment)
  const post = (body: unknown) =>
    desk.ask(`POST /orders/${id}/payment`, { token, body })
  for (let at = 0; at < 10; at++) await post(poor)
  expect(await post(signed)).toMatchObject({
    status: 429,
    body: { reason: 'tooManyTries' },
  })
})

test('while one payment is checked the next is asked to wait', async () => {
  let free: () => void = () => undefined
  let held: Promise<void> | undefined
  const { url } = await startEndpoint(chain.urls.http, async () => {
    await held
    return undefined
  })
  const slow: HttpDesk = await openDesk(chain, { url })
  const { id, token, signed } = await sell(chain, slow)
  held = new Promise((resolve) => {
    free = resolve
  })
  const path = `POST /orders/${id}/payment`
  const post = () => slow.ask(path, { token, body: signed })
  const answers = [post(), post()]
  const waits = await Promise.race(answers)
  expect(waits).toMatchObject({
    status: 409,
    body: { reason: 'acceptInFlight' },
  })
  expect(waits.headers.get('retry-after')).toBe('1')
  free()
  const statuses = (await Promise.all(answers)).map(({ status }) => status)
  expect(statuses.sort()).toEqual([200, 409])
  expect(await post()).toMatchObject({ status: 200 })
})

test('a node in trouble is a 503, and the order as it was', async () => {
  const trouble = { isOn: false }
  const { url } = await startEndpoint(chain.urls.http, () =>
    trouble.isOn ? { status: 502, body: {} } : undefined,
  )
  const weak: HttpDesk = await openDesk(chain, { url })
  const { id, token, signed } = await sell(chain, weak)
  trouble.isOn = true
  const path = `POST /orders/${id}/payment`
  const answer = await weak.ask(path, { token, body: signed })
  expect(answer).toMatchObject({
    status: 503,
    body: { reason: 'nodeUnavailable' },
  })
  expect(answer.headers.get('retry-after')).toBe('2')
  expect((await weak.ask(`GET /orders/${id}`, { token })).status).toBe(200)
  const asked = await weak.ask('POST /merchant/orders', {
    body: { amount: '1' },
  })
  expect(asked.body).toMatchObject({ reason: 'nodeUnavailable' })
  trouble.isOn = false
  expect((await weak.ask(path, { token, body: signed })).status).toBe(200)
  expect(leaked(weak.told, [signed.signature])).toEqual([])
})

test('a new token ends the one before', async () => {
  const draft = {
    headers: { 'idempotency-key': 'again' },
    body: { amount: '3' },
  }
  type Drafted = { buyerToken: string }
  const first = await desk.ask<Drafted>('POST /merchant/orders', draft)
  const second = await desk.ask<Drafted>('POST /merchant/orders', draft)
  const {
    body: { buyerToken: one },
  } = first
  const {
    body: { buyerToken: other },
  } = second
  const read = (token: string) => desk.ask('GET /orders/again', { token })
  expect((await read(one)).status).toBe(404)
  expect((await read(other)).status).toBe(200)
})

test('one half of a signature in the place of an amount is not repeated', async () => {
  const { signed } = await sell(chain, desk)
  const half = Buffer.from(signed.signature.slice(2, 66), 'hex')
  secrets.push(signed.signature)
  for (const encoding of ['hex', 'base64', 'base64url'] as const)
    for (const field of ['amount', 'recipient', 'window', 'primaryType']) {
      const body = { amount: '1', [field]: half.toString(encoding) }
      const answer = await desk.ask('POST /merchant/orders', { body })
      expect(answer.body).toMatchObject({ reason: 'invalidField', field })
    }
})

test('the same payment posted ten times at once is taken once', async () => {
  const { id, token, signed } = await sell(chain, desk)
  secrets.push(signed.signature)
  const post = () =>
    desk.ask(`POST /orders/${id}/payment`, { token, body: signed })
  const answers = await Promise.all(Array.from({ length: 10 }, post))
  for (const { status, body } of answers)
    expect(status === 200 || body.reason === 'acceptInFlight').toBe(true)
  expect((await post()).status).toBe(200)
  const { events } = await desk.orders.events({ orderId: id })
  expect(events.map(({ type }) => type)).toEqual(['drafted', 'accepted'])
})

test('nothing of all this told a signature', () => {
  expect(secrets.length).toBeGreaterThan(3)
  expect(leaked(desk.told, secrets)).toEqual([])
})
