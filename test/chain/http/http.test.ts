import type { SignedCancellation } from 'countersign'
import { startDevChain } from 'countersign/devchain'
import type { Hex } from 'viem'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { submitterKey } from '../../../src/orders/submitter/submitterState.js'
import { revoke } from '../support/desk.js'
import {
  type Drafted,
  leaked,
  openDesk,
  sell,
  sellPaid,
  signAs,
} from '../support/httpDesk.js'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

const desk = await openDesk(chain)
const { ask } = desk

/** Everything that was signed here: none of it may be told to anyone. */
const secrets: Hex[] = []

/** Calls for the buyer to send, which its own cancellation is a part of. */
const calls: string[] = []

test('an order goes from draft to capture over HTTP', async () => {
  const sold = await sell(chain, desk, { metadata: { cart: 7 } })
  const { id, token, signed, payment } = sold
  secrets.push(signed.signature)
  const view = {
    amount: '12.5',
    chainId: chain.chain.id,
    token: chain.token.toLowerCase(),
    recipient: desk.seller,
    window: {
      validAfter: payment.message.validAfter,
      validBefore: payment.message.validBefore,
    },
    state: 'drafted',
    transaction: null,
    refunds: [],
  }
  expect((await ask(`GET /orders/${id}`, { token })).body).toEqual(view)
  const toSign = await ask(`GET /orders/${id}/payment`, { token })
  expect(toSign.body).toEqual({ payment })
  const post = () => ask(`POST /orders/${id}/payment`, { token, body: signed })
  const posted = await post()
  expect([posted.status, posted.body]).toEqual([
    200,
    { ...view, state: 'stored' },
  ])
  expect((await post()).text).toBe(posted.text)
  const captured = await ask<{ proof: { transactionHash: string } }>(
    `POST /merchant/orders/${id}/capture`,
    { headers: { prefer: 'respond-async, wait=20' } },
  )
  expect(captured.headers.get('preference-applied')).toBe('wait=20')
  const { transactionHash: hash } = captured.body.proof
  expect((await ask(`GET /orders/${id}`, { token })).body).toEqual({
    ...view,
    state: 'captured',
    transaction: { hash, finality: 'included' },
  })
  const again = await ask(`POST /merchant/orders/${id}/capture`, { body: {} })
  expect(again.text).toBe(captured.text)
  expect((await post()).body).toMatchObject({ state: 'captured' })
})

test('a capture nobody waits for is under way until a worker does it', async () => {
  const { id, token, signed } = await sellPaid(chain, desk)
  secrets.push(signed.signature)
  await chain.clients.test.setAutomine(false)
  onTestFinished(() => chain.clients.test.setAutomine(true))
  const asked = await ask(`POST /merchant/orders/${id}/capture`)
  expect([asked.status, asked.body.status]).toEqual([202, 'unknown'])
  expect(asked.headers.get('preference-applied')).toBe('wait=0')
  await chain.clients.test.setAutomine(true)
  const stop = new AbortController()
  const running = desk.orders.run({ signal: stop.signal })
  await expect
    .poll(async () => (await ask(`GET /orders/${id}`, { token })).body, {
      timeout: 30_000,
    })
    .toMatchObject({ state: 'captured' })
  stop.abort()
  await running
})

test('a voided order names until when it stays spendable, and ends there', async () => {
  const { id, token, signed } = await sellPaid(chain, desk)
  secrets.push(signed.signature)
  const voided = await ask(`POST /merchant/orders/${id}/void`)
  expect(voided.status).toBe(200)
  expect(voided.body).toMatchObject({
    order: { id, state: 'voided' },
    spendableUntil: String(signed.message.validBefore),
  })
  const again = await ask(`POST /merchant/orders/${id}/void`, { body: {} })
  expect(again.text).toBe(voided.text)
  for (const path of [
    `merchant/orders/${id}/reauthorize`,
    `merchant/orders/${id}/capture`,
  ])
    expect(await ask(`POST /${path}`)).toMatchObject({
      status: 409,
      body: { reason: 'notOpen', status: 409 },
    })
  const unsigned = await ask(`GET /orders/${id}/payment`, { token })
  expect(unsigned).toMatchObject({ status: 409, body: { reason: 'notOpen' } })
})

test('a buyer is asked once more, with a window of another length', async () => {
  const { id, token, buyer, signed } = await sellPaid(chain, desk)
  const asked = await ask<Pick<Drafted, 'payment'>>(
    `POST /merchant/orders/${id}/reauthorize`,
    { body: { window: '1800' } },
  )
  const { payment } = asked.body
  const given = await ask(`GET /orders/${id}/payment`, { token })
  expect(given.body).toEqual({ payment })
  const renewed = await signAs(buyer, payment)
  secrets.push(signed.signature, renewed.signature)
  const { validAfter, validBefore } = payment.message
  expect(
    await ask(`POST /orders/${id}/payment`, { token, body: renewed }),
  ).toMatchObject({
    status: 200,
    body: { state: 'stored', window: { validAfter, validBefore } },
  })
})

test('a buyer signs a cancellation, and the merchant has it sent', async () => {
  const { id, token, buyer, signed } = await sellPaid(chain, desk)
  const given = await ask<{ cancellation: SignedCancellation }>(
    `GET /orders/${id}/cancellation`,
    { token },
  )
  const body = await revoke(chain, signed, buyer)
  const { signature, ...unsigned } = body
  expect(given.body).toEqual({ cancellation: unsigned })
  secrets.push(signed.signature, signature)
  const path = `/orders/${id}/cancellation`
  const taken = await ask(`POST ${path}`, { token, body })
  expect(taken).toMatchObject({
    status: 200,
    body: { order: { state: 'voided' } },
  })
  expect(Object.keys(taken.body)).toEqual(['order', 'call'])
  calls.push(taken.text)
  const approved = await ask(`POST /merchant/orders/${id}/cancellation/approve`)
  expect(approved).toMatchObject({
    status: 200,
    body: { order: { id, requested: 'cancel' } },
  })
  const stop = new AbortController()
  const running = desk.orders.run({ signal: stop.signal })
  await expect
    .poll(async () => (await ask(`GET /orders/${id}`, { token })).body, {
      timeout: 30_000,
    })
    .toMatchObject({ state: 'canceled', transaction: { finality: 'included' } })
  stop.abort()
  await running
  expect(await ask(`POST ${path}`, { token, body })).toMatchObject({
    status: 409,
    body: { reason: 'consumed' },
  })
})

test('record and chain are compared over HTTP', async () => {
  const { id, signed } = await sellPaid(chain, desk)
  secrets.push(signed.signature)
  const capture = `POST /merchant/orders/${id}/capture`
  await ask(capture, { headers: { prefer: 'wait=20' } })
  const body = { fromBlock: '1' }
  const report = await ask('POST /merchant/reconcile', { body })
  expect(report.body).toMatchObject({
    destinations: [{ destination: { recipient: desk.seller }, fromBlock: '1' }],
  })
  const audit = await ask('GET /merchant/audit?fromBlock=1')
  expect(audit.body).toMatchObject({
    ok: true,
    destinations: [{ differences: [] }],
  })
  const health = await ask('GET /merchant/health')
  expect(health.body).toMatchObject({
    suspended: false,
    submitters: [{ account: desk.seller, openTransactions: 0 }],
  })
})

test('the health of a submitter names who works on it, and until when', async () => {
  const own = await openDesk(chain)
  const submitter = { chainId: 31337, account: own.seller }
  await own.store.takeLease({
    key: submitterKey(submitter),
    owner: 'another',
    milliseconds: 600_000,
  })
  const { body } = await own.ask('GET /merchant/health')
  expect(body.submitters).toMatchObject([
    {
      lease: {
        owner: 'another',
        thisInstance: false,
        until: expect.stringMatching(/^\d{13}$/),
      },
    },
  ])
})

test('orders are listed by state and payer, page by page', async () => {
  const own = await openDesk(chain)
  const first = await sellPaid(chain, own)
  const second = await sell(chain, own)
  const third = await sell(chain, own)
  secrets.push(first.signed.signature)
  type Listed = { orders: { id: string }[]; cursor?: string }
  const list = async (query: string) => {
    const { body } = await own.ask<Listed>(`GET /merchant/orders${query}`)
    return [body.orders.map(({ id }) => id), body.cursor]
  }
  const [newest, cursor] = await list('?limit=2')
  expect(newest).toEqual([third.id, second.id])
  expect(await list(`?limit=2&before=${cursor}`)).toEqual([
    [first.id],
    undefined,
  ])
  expect(await list('?state=stored,captured')).toEqual([[first.id], undefined])
  const payer = first.buyer.address
  expect(await list(`?payer=${payer}`)).toEqual([[first.id], undefined])
  expect(leaked(own.told, [first.signed.signature])).toEqual([])
})

test('nothing else that was told holds a signature, in any form', () => {
  expect(secrets.length).toBeGreaterThan(6)
  expect(desk.told.length).toBeGreaterThan(30)
  const told = desk.told.filter((text) => !calls.includes(text))
  expect(desk.told.length - told.length).toBe(1)
  expect(leaked(told, secrets)).toEqual([])
})
