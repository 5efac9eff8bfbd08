import { startDevChain } from 'countersign/devchain'
import { createPaymentHandler } from 'countersign/http'
import { memoryStore, type PaymentStore } from 'countersign/store'
import { afterAll, expect, test } from 'vitest'
import { toJson } from '../../../src/core/toJson.js'
import { fundedAccount } from '../../chain/support/desk.js'
import { routes } from '../../chain/support/httpFuzzAddresses.js'
import {
  base,
  type Known,
  openWorld,
} from '../../chain/support/httpFuzzWorld.js'
import { openShop } from '../../chain/support/shop.js'

const chain = await startDevChain({ blockTime: 0 })
const world = await openWorld(chain)
afterAll(async () => {
  await world.shop.orders.close()
  await chain.stop()
})
const { handle, keys, known, recipients } = world

const ofA = known.filter(({ owner }) => owner === 'a')
const [first, second] = ofA
const foreign = known.find(({ owner }) => owner === 'stranger')
if (!first || !second || !foreign) throw new Error('a world without orders')

type Asked = { bearer?: string | undefined; body?: unknown; query?: string }

/** All that can be seen of an answer. */
async function ask(
  [method, path]: readonly [string, string],
  id: string,
  { bearer, body = {}, query = '' }: Asked = {},
) {
  const response = await handle(
    new Request(`${base}${path.replace('{}', () => id)}${query}`, {
      method,
      headers: {
        ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
        ...(method === 'POST' ? { 'content-type': 'application/json' } : {}),
      },
      ...(method === 'POST' ? { body: toJson(body) } : {}),
    }),
  )
  const { status, headers } = response
  return { status, headers: [...headers], text: await response.text() }
}

/** What a route needs, if it needs something. */
function bodyOf(path: string): Record<string, string> {
  if (path.endsWith('/refunds')) return { refundId: 'one' }
  const isSigned = path.endsWith('/refunds/one/payment')
  return isSigned ? { signature: `0x${'5e'.repeat(65)}` } : {}
}

const buyerRoutes = routes.filter(([, path]) => path.startsWith('/orders/{}'))
const orderRoutes = [
  ...routes.filter(([, path]) => path.startsWith('/merchant/orders/{}')),
  ['GET', '/merchant/events?orderId={}'] as const,
  ['GET', '/merchant/events?after=0&orderId={}'] as const,
]

test.each(buyerRoutes)(
  '%s %s says the same whatever it is that does not fit',
  async (method, path) => {
    const wrong = 'f'.repeat(64)
    const route = [method, path] as const
    const body = path.endsWith('/payment') ? first.signed : first.cancellation
    const before = await world.everything()
    const answers = [
      await ask(route, first.id, { bearer: wrong, body }),
      await ask(route, first.id, { body }),
      await ask(route, first.id, { bearer: '', body }),
      await ask(route, first.id, { bearer: 'x'.repeat(9_000), body }),
      await ask(route, first.id, { bearer: first.token.slice(1), body }),
      await ask(route, first.id, { bearer: first.token.toUpperCase(), body }),
      await ask(route, first.id, { bearer: second.token, body }),
      await ask(route, first.id, { bearer: foreign.token, body }),
      await ask(route, first.id, { bearer: keys.a, body }),
      await ask(route, first.id, { bearer: wrong, body: { not: 'one' } }),
      await ask(route, first.id, { query: `?buyerToken=${first.token}`, body }),
      await ask(route, first.id, { query: `?token=${first.token}`, body }),
      await ask(route, 'e'.repeat(32), { bearer: wrong, body }),
      await ask(route, 'e'.repeat(32), { bearer: first.token, body }),
      await ask(route, '__proto__', { bearer: first.token, body }),
      await ask(route, '%00', { bearer: first.token, body }),
      await ask(route, '%ff', { bearer: first.token, body }),
      await ask(route, 'a'.repeat(200), { bearer: first.token, body }),
      await ask(route, foreign.id, { bearer: foreign.token, body }),
      await ask(route, foreign.id, { bearer: first.token, body }),
    ]
    for (const answer of answers) expect(answer).toEqual(answers[0])
    expect(answers[0]).toMatchObject({
      status: 404,
      text: expect.stringContaining('"reason":"orderNotFound"'),
    })
    expect(await world.everything()).toBe(before)
  },
)

test.each(orderRoutes)(
  '%s %s knows no order of another recipient',
  async (method, path) => {
    const route = [method, path] as const
    const before = await world.everything()
    for (const owner of ['a', 'stranger'] as const)
      for (const order of known.filter((one) => one.owner === owner)) {
        const body = bodyOf(path)
        const asked = { bearer: keys.b, body }
        const answer = await ask(route, order.id, asked)
        expect(answer).toEqual(await ask(route, 'e'.repeat(32), asked))
        expect(answer.status).toBe(404)
      }
    expect(await world.everything()).toBe(before)
  },
)

test.each(routes.filter(([, path]) => path.startsWith('/merchant')))(
  '%s %s is for merchants alone',
  async (method, path) => {
    const route = [method, path] as const
    const answers = []
    for (const bearer of [
      undefined,
      '',
      keys.stranger,
      first.token,
      keys.a.toUpperCase(),
      `${keys.a},${keys.b}`,
    ])
      answers.push(await ask(route, first.id, { bearer }))
    for (const answer of answers) expect(answer).toEqual(answers[0])
    expect(answers[0]?.status).toBe(401)
  },
)

test.each([
  ['GET', '/merchant/orders'],
  ['GET', '/merchant/health'],
  ['GET', '/merchant/audit'],
  ['GET', '/merchant/ledger'],
  ['POST', '/merchant/reconcile'],
] as const)(
  '%s %s shows nothing of another recipient',
  async (method, path) => {
    const others = known.filter(({ owner }) => owner !== 'b')
    for (const query of ['', `?recipient=${recipients.a}`, '?limit=200']) {
      const route = [method, path] as const
      const answer = await ask(route, '', { bearer: keys.b, query })
      if (answer.status === 400) continue
      expect(answer.status).toBe(200)
      for (const text of [
        recipients.a.slice(2),
        recipients.stranger.slice(2),
        ...others.map(({ id }) => id),
        ...others.map(({ signed }) =>
          signed.message.from.slice(2).toLowerCase(),
        ),
      ])
        expect(answer.text.toLowerCase()).not.toContain(text)
    }
  },
)

test('a merchant cannot sell for another, and is told so as for nobody', async () => {
  const before = await world.everything()
  const create = ['POST', '/merchant/orders'] as const
  for (const primaryType of [
    'ReceiveWithAuthorization',
    'TransferWithAuthorization',
  ]) {
    const asked = async (recipient: string) => {
      const body = { amount: '1', recipient, primaryType }
      const answer = await ask(create, '', { bearer: keys.b, body })
      return { ...answer, text: answer.text.replace(recipient, 'it') }
    }
    const nobody = await asked(`0x${'12'.repeat(20)}`)
    expect(nobody.status).toBe(400)
    for (const recipient of [recipients.a, recipients.stranger])
      expect(await asked(recipient)).toEqual(nobody)
  }
  expect(await world.everything()).toBe(before)
})

test('a token ends with the next one of its order', async () => {
  const { orders } = world.shop
  const draft = { orderId: 'renewed', amount: '1', recipient: recipients.a }
  const old = await orders.draft(draft)
  const route = ['GET', '/orders/{}'] as const
  const asked = (bearer: string) => ask(route, 'renewed', { bearer })
  expect((await asked(old.buyerToken)).status).toBe(200)
  const now = await orders.draft(draft)
  expect((await asked(now.buyerToken)).status).toBe(200)
  expect((await asked(old.buyerToken)).status).toBe(404)
})

test('a principal for nobody sees nothing, and one for a malformed recipient fails', async () => {
  const answer = async (given: readonly string[], path: string) => {
    const handler = createPaymentHandler(world.shop.orders, {
      authorize: () => ({ recipients: given as never }),
    })
    return handler(new Request(`https://shop.test${path}`))
  }
  const none = await answer([], '/merchant/orders')
  expect(await none.json()).toEqual({ orders: [] })
  const other = await answer([`0x${'12'.repeat(20)}`], '/merchant/health')
  expect(await other.json()).toMatchObject({ destinations: [], submitters: [] })
  const unread = await answer([], `/merchant/orders/${first.id}`)
  expect(unread.status).toBe(404)
  const malformed = await answer(['me'], '/merchant/orders')
  expect(malformed.status).toBe(500)
  expect(await malformed.json()).toMatchObject({ reason: 'internal' })
})

test('a wrong token and an unknown order cost the same questions to the store', async () => {
  const asked: string[] = []
  const store = listening(memoryStore(), asked)
  const sellers = [await fundedAccount(chain)]
  const { orders } = await openShop(chain, { store, sellers })
  const { order } = await orders.draft({ amount: '1' })
  const handler = createPaymentHandler(orders, { authorize: () => undefined })
  const questions = async (id: string) => {
    asked.length = 0
    const authorization = `Bearer ${'f'.repeat(64)}`
    const response = await handler(
      new Request(`https://shop.test/orders/${id}`, {
        headers: { authorization },
      }),
    )
    expect(response.status).toBe(404)
    return [...asked]
  }
  expect(await questions(order.id)).toEqual(await questions('unknown'))
})

/** A store that notes what it is asked for. */
function listening(inner: PaymentStore, asked: string[]): PaymentStore {
  return {
    ...inner,
    read: (work) =>
      inner.read((tables) => {
        const note = <query, row>(
          name: string,
          find: (query: query) => Promise<row[]>,
        ) => {
          return (query: query) => {
            asked.push(name)
            return find(query)
          }
        }
        const { orders, attempts, proofs } = tables
        return work({
          ...tables,
          orders: { ...orders, find: note('orders', orders.find) },
          attempts: { find: note('attempts', attempts.find) },
          proofs: { find: note('proofs', proofs.find) },
        })
      }),
  }
}

test('events of another recipient are not to be had by any cursor', async () => {
  const asked = async (query: string): Promise<string> => {
    const request = new Request(`${base}/merchant/events${query}`, {
      headers: { authorization: `Bearer ${keys.b}` },
    })
    const reader = (await handle(request)).body?.getReader()
    const decoder = new TextDecoder()
    const own = known.filter(({ owner }) => owner === 'b')
    let text = ''
    // Everything of the last of its orders has come once its last event has.
    while (!isComplete(text, own)) {
      const { value, done } = (await reader?.read()) ?? { done: true }
      if (done) break
      text += decoder.decode(value)
    }
    await reader?.cancel()
    return text
  }
  const text = await asked('?after=0')
  for (const { id } of known.filter(({ owner }) => owner !== 'b'))
    expect(text).not.toContain(id)
  expect(text).not.toContain(recipients.a.slice(2))
  expect(text).not.toContain(recipients.stranger.slice(2))
})

const isComplete = (text: string, own: readonly Known[]) =>
  own.every(({ id }) => text.includes(id))
