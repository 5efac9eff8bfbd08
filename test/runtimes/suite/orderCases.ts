import { signPayment } from 'countersign'
import type { Orders } from 'countersign/orders'
import { memoryStore, type SealContext } from 'countersign/store'
import { storeCases } from 'countersign/testing'
import { expectEqual } from './expectEqual.js'
import { failureOf } from './failureOf.js'
import { newSealer, openOrders } from './openOrders.js'
import { amount } from './signedPayment.js'
import type { Stage, StagedCase } from './types.js'

/** Secrets, stores and orders, which need no server runtime. */
export const orderCases: readonly StagedCase[] = [
  {
    name: 'a secret is sealed, opened, and not opened when tampered with',
    run: async () => {
      const seal = newSealer()
      const sealed = await seal.seal('secret', context)
      expectEqual(sealed.includes('secret'), false)
      expectEqual(await seal.open(sealed, context), 'secret')
      const elsewhere = { ...context, orderId: 'order-2' }
      const tampered = sealed.replace(/.$/, (last) =>
        last === 'A' ? 'B' : 'A',
      )
      for (const open of [
        () => seal.open(sealed, elsewhere),
        () => seal.open(tampered, context),
        () => newSealer().open(sealed, context),
      ])
        expectEqual(Object(await failureOf(open)).name, 'SealError')
    },
  },
  {
    name: 'the store in memory passes every published case',
    run: async () => {
      const store = memoryStore({ volatile: true })
      for (const { run } of storeCases) await run(() => store)
      expectEqual(storeCases.length > 40, true)
    },
  },
  {
    name: 'an order is drafted, accepted and captured once',
    run: async (stage) => {
      const orders = openOrders(stage)
      try {
        const orderId = await sell(stage, orders)
        const [first, second] = await Promise.all([
          orders.capture({ orderId }),
          orders.capture({ orderId }),
        ])
        expectEqual([first.status, second.status], ['captured', 'captured'])
        expectEqual(first, second)
        const { state, capture } = await orders.get({ orderId })
        expectEqual(
          [state, capture?.transactionHash],
          ['captured', Object(first).proof.transactionHash],
        )
      } finally {
        await orders.close()
      }
    },
  },
]

const context: SealContext = {
  kind: 'payment',
  orderId: 'order-1',
  attempt: 1,
  chainId: 8453,
  token: `0x${'ab'.repeat(20)}`,
  payer: `0x${'cd'.repeat(20)}`,
  nonce: `0x${'ef'.repeat(32)}`,
}

/** Up to the accepted signature. */
export async function sell(stage: Stage, orders: Orders): Promise<string> {
  const { payer, seller, token, chainId } = stage
  const { order, payment } = await orders.draft({ amount })
  const from = payer.account.address
  const signed = await signPayment(payer, {
    payment: { ...payment, message: { ...payment.message, from } },
    expect: { chainId, token, to: seller.account.address, amount },
  })
  const orderId = order.id
  const verdict = await orders.accept({ orderId, payment: signed })
  expectEqual(verdict.ok || verdict.reason, true)
  return orderId
}
