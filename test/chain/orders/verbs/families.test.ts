import { startDevChain } from 'countersign/devchain'
import type { Orders } from 'countersign/orders'
import { afterAll, expect, test } from 'vitest'
import { fundedAccount, revoke } from '../../support/desk.js'
import { deployFamilies, type FamilyName } from '../../support/families.js'
import { openShop, pay } from '../../support/shop.js'

const chain = await startDevChain({ blockTime: 0 })
const families = await deployFamilies(chain)
afterAll(() => chain.stop())

const names = Object.keys(families) as FamilyName[]
const kinds = ['ReceiveWithAuthorization', 'TransferWithAuthorization'] as const

async function sell(
  name: FamilyName,
  primaryType: (typeof kinds)[number],
  { orders }: { orders: Orders },
) {
  const { token, decimals, mint } = families[name]
  const payer = await fundedAccount(chain)
  await mint(payer.address, 10n ** BigInt(decimals))
  const { order, payment } = await orders.draft({
    token,
    primaryType,
    amount: '1',
  })
  const signed = await pay(payer, payment)
  const orderId = order.id
  expect(await orders.accept({ orderId, payment: signed })).toMatchObject({
    ok: true,
    order: { value: 10n ** BigInt(decimals), amount: '1' },
  })
  return { orderId, payer, signed }
}

const open = (name: FamilyName) =>
  openShop(chain, {
    tokens: name === 'circle22' ? [] : [families[name].token],
    policy: { relayCancellations: 'always' },
  })

const all = names.flatMap((name) => kinds.map((kind) => [name, kind] as const))
const served = all.filter(
  ([name, kind]) => name !== 'circle20' || kind === kinds[1],
)

test.each(served)('%s is captured once by %s', async (name, kind) => {
  const shop = await open(name)
  const { orders } = shop
  const { orderId } = await sell(name, kind, shop)
  const capture = () => orders.capture({ orderId })
  const [first, second] = await Promise.all([capture(), capture()])
  expect(first).toMatchObject({ status: 'captured' })
  expect(second).toEqual(first)
  expect(await capture()).toEqual(first)
  await orders.close()
})

test.each(served)('%s is canceled after %s', async (name, kind) => {
  const shop = await open(name)
  const { orders } = shop
  const { orderId, payer, signed } = await sell(name, kind, shop)
  const cancellation = await revoke(chain, signed, payer)
  expect(
    await orders.acceptCancellation({ orderId, cancellation }),
  ).toMatchObject({
    ok: true,
  })
  // What drives the submitter sends the cancellation, and no capture.
  expect(await orders.capture({ orderId })).toMatchObject({
    status: 'rejected',
    reason: 'canceled',
    order: { cancellation: { transactionHash: expect.any(String) } },
  })
  await orders.close()
})

test('a token that cannot settle Receive payments is told so when drafted', async () => {
  const { orders } = await open('circle20')
  const { token } = families.circle20
  await expect(orders.draft({ token, amount: '1' })).rejects.toMatchObject({
    name: 'UnsupportedTokenError',
  })
  await orders.close()
})
