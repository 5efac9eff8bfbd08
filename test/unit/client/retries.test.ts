import {
  createMerchantClient,
  createSubscriptionsClient,
} from 'countersign/client'
import { expect, test } from 'vitest'
import { clientsOf } from '../support/clientServer.js'

/** Clients of a server that works, and whose first answer is lost. */
function loseFirst() {
  let sent = 0
  const connection = {
    url: 'https://shop.test',
    fetch: async () => {
      sent += 1
      if (sent > 1) return Response.json({})
      // The connection was refused, so that `draft` need not wait.
      const cause = { code: 'ECONNREFUSED' }
      throw Object.assign(new TypeError('fetch failed'), { cause })
    },
  }
  return {
    buyer: clientsOf(connection).buyer,
    merchant: createMerchantClient({ ...connection, key: 'key' }),
    subscriptions: createSubscriptionsClient({ ...connection, key: 'key' }),
    sent: () => sent,
  }
}

const order = { orderId: 'one' }
const refund = { ...order, refundId: 'r' }
const subscription = { subscriptionId: 'one' }
const signature = `0x${'ab'.repeat(65)}` as const
const cancellation = { signature } as never

type Clients = ReturnType<typeof loseFirst>

/** Calls that have the effect of one, whatever came between two tries. */
const repeated: Record<string, (clients: Clients) => Promise<unknown>> = {
  draft: ({ merchant }) => merchant.draft({ amount: '1' }),
  capture: ({ merchant }) => merchant.capture(order),
  // `reauthorize` refuses a voided order, so that no try voids a newer window.
  void: ({ merchant }) => merchant.void(order),
  approveCancellation: ({ merchant }) => merchant.approveCancellation(order),
  refund: ({ merchant }) => merchant.refund(refund),
  acceptRefund: ({ merchant }) =>
    merchant.acceptRefund({ ...refund, signature }),
  reconcile: ({ merchant }) => merchant.reconcile(),
  suspend: ({ merchant }) => merchant.suspend(),
  reseal: ({ merchant }) => merchant.reseal(),
  // A cancellation belongs to one payment nonce, which is over once canceled.
  sendCancellation: ({ buyer }) => buyer.sendCancellation(cancellation),
  accept: ({ subscriptions }) =>
    subscriptions.accept({ ...subscription, signature }),
  charge: ({ subscriptions }) =>
    subscriptions.charge({ ...subscription, chargeId: 'a' }),
  // `restart` refuses a canceled subscription.
  cancel: ({ subscriptions }) => subscriptions.cancel(subscription),
}

/** Calls whose second try could undo what came between, or be refused. */
const sentOnce: Record<string, (clients: Clients) => Promise<unknown>> = {
  reauthorize: ({ merchant }) => merchant.reauthorize(order),
  resume: ({ merchant }) => merchant.resume(),
  restart: ({ subscriptions }) => subscriptions.restart(subscription),
}

test('only calls that change nothing by being repeated are sent again after a lost answer', async () => {
  await Promise.all(
    Object.entries(repeated).map(async ([name, call]) => {
      const clients = loseFirst()
      await call(clients)
      expect([name, clients.sent()]).toEqual([name, 2])
    }),
  )
  for (const [name, call] of Object.entries(sentOnce)) {
    const clients = loseFirst()
    await expect(call(clients)).rejects.toMatchObject({ name: 'ServerError' })
    expect([name, clients.sent()]).toEqual([name, 1])
  }
})
