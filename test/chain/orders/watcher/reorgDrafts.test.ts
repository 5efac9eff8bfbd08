import { capturePayment } from 'countersign'
import { expect, test } from 'vitest'
import { fundedAccount, mined } from '../../support/desk.js'
import { chain, policy } from '../../support/reorgChain.js'
import { eventsOf, openShop, pay, type Shop } from '../../support/shop.js'
import { mineBlocks } from '../../support/watching.js'

async function work<result>(
  { orders }: Shop,
  until: () => Promise<result>,
  expected: result,
): Promise<void> {
  const ends = new AbortController()
  const running = orders.run({ signal: ends.signal })
  try {
    await expect.poll(until, { timeout: 30_000 }).toEqual(expected)
  } finally {
    ends.abort()
    await running
  }
}

test('a draft that a stranger paid for is a draft again after a reorganization, and can be sold', async () => {
  const shop = await openShop(chain, {
    policy: { ...policy, pollingInterval: 50 },
  })
  const { orders } = shop
  const buyer = await fundedAccount(chain, 12_500_000n)
  const { order, payment } = await orders.draft({
    amount: '12.50',
    primaryType: 'TransferWithAuthorization',
  })
  const { id: orderId } = order
  const signed = await pay(buyer, payment)
  const stateOf = async () => (await orders.get({ orderId })).state
  if (signed.primaryType !== 'TransferWithAuthorization') throw new Error()
  await mineBlocks(chain, 2)
  await work(shop, stateOf, 'drafted')
  await mined(chain, capturePayment(chain.clients.relayer, { payment: signed }))
  await work(shop, stateOf, 'captured')
  await chain.reorg({ depth: 1, transactions: 'dropped' })
  await mineBlocks(chain, 1)
  await work(shop, stateOf, 'drafted')
  expect(await orders.capture({ orderId })).toMatchObject({
    status: 'rejected',
    reason: 'notOpen',
  })
  expect(await orders.accept({ orderId, payment: signed })).toMatchObject({
    ok: true,
  })
  expect(await orders.capture({ orderId })).toMatchObject({
    status: 'captured',
  })
  expect(await eventsOf(shop, orderId)).toContain('reorged')
  expect((await orders.audit()).ok).toBe(true)
})
