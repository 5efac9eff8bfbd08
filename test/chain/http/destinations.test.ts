import { startDevChain } from 'countersign/devchain'
import type { Address } from 'viem'
import { afterAll, expect, test } from 'vitest'
import { fundedAccount } from '../support/desk.js'
import { openDesk, sell, sellPaid } from '../support/httpDesk.js'
import { rowsOf } from '../support/shop.js'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

const sellers = [await fundedAccount(chain), await fundedAccount(chain)]
const [first = '0x', second = '0x'] = sellers.map(
  ({ address }) => address.toLowerCase() as Address,
)
/** Who asks names its recipients. */
const desk = await openDesk(chain, {
  sellers,
  handler: {
    authorize: ({ headers }) => {
      const names = headers.get('x-recipients')
      return names === null
        ? undefined
        : { recipients: names.split(' ').filter(Boolean) as Address[] }
    },
  },
})
const as = (...recipients: string[]) => ({
  'x-recipients': recipients.join(' '),
})
/** The desk as the merchant of one recipient sees it. */
const deskOf = (recipient: Address) => ({
  ask: ((request, options) =>
    desk.ask(request, {
      ...options,
      headers: { ...as(recipient), ...options?.headers },
    })) as typeof desk.ask,
})

const merchantRoutes = (id: string): string[] => [
  `GET /merchant/orders/${id}`,
  `POST /merchant/orders/${id}/capture`,
  `POST /merchant/orders/${id}/void`,
  `POST /merchant/orders/${id}/reauthorize`,
  `POST /merchant/orders/${id}/cancellation/approve`,
  `GET /merchant/events?orderId=${id}`,
  `GET /merchant/events?orderId=${id}&after=0`,
]

test('an order of another recipient is not there, whatever is asked', async () => {
  const { id } = await sellPaid(chain, deskOf(second))
  const before = await rowsOf(desk, id)
  for (const headers of [as(first), as()])
    for (const request of merchantRoutes(id)) {
      const missing = request.replace(id, 'no-such-order')
      const answer = await desk.ask(request, { headers })
      expect(answer.body).toMatchObject({ reason: 'orderNotFound' })
      expect(answer.text).toBe((await desk.ask(missing, { headers })).text)
    }
  expect(await rowsOf(desk, id)).toEqual(before)
  const own = await desk.ask(`GET /merchant/orders/${id}`, {
    headers: as(first, second),
  })
  expect(own.body).toMatchObject({ id, recipient: second })
})

test('lists, health, reports and reconciliation show one’s own alone', async () => {
  const { id } = await sell(chain, deskOf(first))
  await sell(chain, deskOf(second))
  const ask = async (request: string, headers = as(first)) =>
    JSON.stringify((await desk.ask(request, { headers })).body)
  expect(await ask('GET /merchant/orders')).toContain(id)
  for (const request of [
    'GET /merchant/orders',
    `GET /merchant/orders?recipient=${second}`,
    'GET /merchant/health',
    'GET /merchant/audit',
    'POST /merchant/reconcile',
  ]) {
    expect(await ask(request)).not.toContain(second.slice(2))
    const nobody = await ask(request, as())
    expect(nobody).not.toContain(first.slice(2))
    expect(nobody).not.toContain(second.slice(2))
  }
})

test('nobody drafts for a recipient that is not its own', async () => {
  const request = 'POST /merchant/orders'
  const body = { amount: '1', recipient: second }
  expect(await desk.ask(request, { headers: as(first), body })).toMatchObject({
    status: 400,
    body: { reason: 'invalidField', field: 'recipient' },
  })
  const nobody = await desk.ask(request, {
    headers: as(),
    body: { amount: '1' },
  })
  expect(nobody).toMatchObject({
    status: 400,
    body: { reason: 'invalidField' },
  })
})

test('an id in use is refused alike, whoever’s it is', async () => {
  const ids = { mine: first, theirs: second }
  for (const [id, recipient] of Object.entries(ids))
    await sellPaid(chain, {
      ask: ((request, options) =>
        desk.ask(request, {
          ...options,
          headers: { ...as(recipient), 'idempotency-key': id },
        })) as typeof desk.ask,
    })
  const answers = await Promise.all(
    Object.keys(ids).map((id) =>
      desk.ask('POST /merchant/orders', {
        headers: { ...as(first), 'idempotency-key': id },
        body: { amount: '12.50' },
      }),
    ),
  )
  expect(answers[0]).toMatchObject({
    status: 409,
    body: { reason: 'orderIdInUse' },
  })
  expect(answers[1]?.text).toBe(answers[0]?.text)
})

test('a stranger is asked who it is, on every merchant route', async () => {
  const requests = [
    ...merchantRoutes('some'),
    'POST /merchant/orders',
    'GET /merchant/orders',
    'POST /merchant/reconcile',
    'GET /merchant/audit',
    'GET /merchant/ledger',
    'GET /merchant/health',
    'GET /merchant/events',
  ]
  for (const request of requests) {
    const answer = await desk.ask(request)
    expect([request, answer.status]).toEqual([request, 401])
    expect(answer.headers.get('www-authenticate')).toBe('Bearer')
  }
})
