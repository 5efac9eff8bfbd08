import { decodePayment, encodePayment, signPayment } from 'countersign'
import { createBuyerClient, createMerchantClient } from 'countersign/client'
import { createPaymentHandler } from 'countersign/http'
import { expectEqual } from './expectEqual.js'
import { openOrders } from './openOrders.js'
import { type EventReader, readEvents } from './readEvents.js'
import { amount } from './signedPayment.js'
import type { Mount, Stage, StagedCase } from './types.js'

/** The handler behind the server of the runtime. */
export const httpCases = (mount: Mount): readonly StagedCase[] => [
  {
    name: 'an order is sold over HTTP, from its draft to its capture',
    run: (stage) =>
      useShop(mount, stage, async (shop) => {
        const { id, buyer, payment } = await shop.draft()
        const paid = await shop.ask(
          `POST /orders/${id}/payment`,
          payment,
          buyer,
        )
        expectEqual([paid.status, paid.body.state], [200, 'stored'])
        const again = await shop.ask(
          `POST /orders/${id}/payment`,
          payment,
          buyer,
        )
        expectEqual(again, paid)
        const captured = await shop.ask(
          `POST /merchant/orders/${id}/capture`,
          '{}',
          merchantKey,
          { prefer: 'wait=30' },
        )
        expectEqual([captured.status, captured.body.status], [200, 'captured'])
        const shown = await shop.ask(`GET /orders/${id}`, undefined, buyer)
        const { state, transaction } = shown.body
        expectEqual(
          [shown.status, state, transaction.finality],
          [200, 'captured', 'included'],
        )
      }),
  },
  {
    name: 'a stream tells a buyer what happens, and is taken up again',
    run: (stage) =>
      useShop(mount, stage, async (shop) => {
        const { id, buyer, payment } = await shop.draft()
        const first = await shop.follow(id, buyer)
        const status = await first.next('status')
        await shop.ask(`POST /orders/${id}/payment`, payment, buyer)
        const accepted = await first.next('accepted')
        await first.cancel()
        const second = await shop.follow(id, buyer, status.id)
        expectEqual(await second.next('accepted'), accepted)
        await second.cancel()
      }),
  },
  {
    name: 'the typed clients sell an order, and follow it to its end',
    run: (stage) =>
      useShop(mount, stage, async ({ url, send }) => {
        const { payer, seller, token, chainId } = stage
        const shop = { url, fetch: send }
        const merchant = createMerchantClient({ ...shop, key: merchantKey })
        const { order, buyerToken } = await merchant.draft({ amount })
        const orderId = order.id
        const buyer = createBuyerClient({ ...shop, orderId, buyerToken })
        const to = seller.account.address
        await buyer.pay(payer, { expect: { chainId, token, to, amount } })
        const { status } = await merchant.capture({ orderId, wait: 25 })
        expectEqual(status, 'captured')
        let last = ''
        for await (const news of buyer.follow({ until: ['captured'] }))
          last = news.order.state
        expectEqual(last, 'captured')
        const refusal = await merchant.void({ orderId }).catch(String)
        expectEqual(String(refusal).startsWith('ProblemError'), true)
      }),
  },
  {
    name: 'strangers and broken requests are answered with problems',
    run: (stage) =>
      useShop(mount, stage, async ({ ask, draft }) => {
        const { id, buyer } = await draft()
        const foreign = await ask(`GET /orders/${id}`, undefined, merchantKey)
        const unknown = await ask('GET /orders/none', undefined, buyer)
        expectEqual(foreign, unknown)
        expectEqual(
          [foreign.status, foreign.body.reason],
          [404, 'orderNotFound'],
        )
        const answers = [
          await ask('POST /merchant/orders', '{}', 'another key'),
          await ask('POST /merchant/orders', '{"amount":1}', merchantKey),
          await ask('POST /merchant/orders', 'no JSON', merchantKey),
          await ask(`POST /orders/${id}/payment`, '{}', buyer),
          await ask('GET /nowhere', undefined, merchantKey),
        ]
        expectEqual(
          answers.map(({ status }) => status),
          [401, 400, 400, 400, 404],
        )
      }),
  },
  {
    name: 'the routes are described by an OpenAPI document',
    run: (stage) =>
      useShop(mount, stage, async ({ ask }) => {
        const { status, body } = await ask('GET /openapi.json')
        expectEqual([status, body.openapi.slice(0, 3)], [200, '3.1'])
        expectEqual(Object.keys(body.paths).length > 10, true)
      }),
  },
]

const merchantKey = 'key of the merchant'

type Answer = {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: what is not as expected fails the case
  body: any
}

type Shop = {
  /** Address of the routes. */
  url: string
  send(request: Request): Promise<Response>
  ask(
    request: string,
    body?: string,
    key?: string,
    headers?: Record<string, string>,
  ): Promise<Answer>
  follow(id: string, key: string, lastEventId?: string): Promise<EventReader>
  /** An order, and its payment as the buyer's page writes it. */
  draft(): Promise<{ id: string; buyer: string; payment: string }>
}

async function useShop(
  mount: Mount,
  stage: Stage,
  work: (shop: Shop) => Promise<void>,
): Promise<void> {
  const orders = openOrders(stage)
  const { origin, send, stop } = await mount(
    createPaymentHandler(orders, {
      basePath: '/payments',
      authorize: ({ headers }) =>
        headers.get('authorization') === `Bearer ${merchantKey}`
          ? { recipients: [stage.seller.account.address] }
          : undefined,
    }),
  )
  const url = `${origin}/payments`
  const ask: Shop['ask'] = async (request, body, key = '', headers = {}) => {
    const [method = '', path = ''] = request.split(' ')
    const typed = { ...headers, 'content-type': 'application/json' }
    const response = await send(
      new Request(url + path, {
        method,
        body: body ?? null,
        headers: { ...typed, authorization: `Bearer ${key}` },
      }),
    )
    return { status: response.status, body: await response.json() }
  }
  const follow: Shop['follow'] = async (id, key, lastEventId) => {
    const headers = new Headers({ authorization: `Bearer ${key}` })
    if (lastEventId) headers.set('last-event-id', lastEventId)
    const request = new Request(`${url}/orders/${id}/events`, { headers })
    return readEvents(await send(request))
  }
  try {
    await work({ url, send, ask, follow, draft: () => draft(stage, ask) })
  } finally {
    await stop()
    await orders.close()
  }
}

async function draft(
  { payer, seller, token, chainId }: Stage,
  ask: Shop['ask'],
): ReturnType<Shop['draft']> {
  const order = JSON.stringify({ amount, payer: payer.account.address })
  const drafted = await ask('POST /merchant/orders', order, merchantKey)
  expectEqual(drafted.status, 201)
  const { order: shown, buyerToken } = drafted.body
  const route = `GET /orders/${shown.id}/payment`
  const { body } = await ask(route, undefined, buyerToken)
  const signed = await signPayment(payer, {
    payment: decodePayment(body.payment),
    expect: { chainId, token, to: seller.account.address, amount },
  })
  return { id: shown.id, buyer: buyerToken, payment: encodePayment(signed) }
}
