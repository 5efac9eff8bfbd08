import { startDevChain } from 'countersign/devchain'
import { afterAll, expect, test } from 'vitest'
import { fundedAccount } from '../../support/desk.js'
import { openShop, pay } from '../../support/shop.js'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

const price = 12_500_000n

/** A shop that does something between asking the chain and writing. */
async function openSlowShop() {
  const meanwhile: (() => Promise<unknown>)[] = []
  // Sealing comes after the chain was asked, and before the write.
  const seal = async (secret: string) => {
    await meanwhile.pop()?.()
    return secret
  }
  const open = async (sealed: string) => sealed
  const names = { current: '', keyNames: [''] }
  const shop = await openShop(chain, { seal: { ...names, seal, open } })
  const draftFor = (payer: `0x${string}`) =>
    shop.orders.draft({ amount: '12.50', payer })
  return { ...shop, meanwhile, draftFor }
}

test('a capture since the balance was read counts, whatever the payer ordered after it', async () => {
  const { orders, meanwhile, draftFor } = await openSlowShop()
  const buyer = await fundedAccount(chain, price)
  const first = await draftFor(buyer.address)
  for (let at = 0; at < 201; at++) await draftFor(buyer.address)
  const last = await draftFor(buyer.address)
  const accept = async ({ order, payment }: typeof first) =>
    orders.accept({ orderId: order.id, payment: await pay(buyer, payment) })
  expect(await accept(first)).toMatchObject({ ok: true })
  meanwhile.push(() => orders.capture({ orderId: first.order.id }))
  expect(await accept(last)).toMatchObject({
    reason: 'exposureTooHigh',
    details: { balance: price, open: price, value: price },
  })
})
