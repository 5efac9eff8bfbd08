import { expect, test } from 'vitest'
import { openSale, until } from '../../support/channelSale.js'
import { deposit, most } from '../../support/channelShop.js'
import { fundedAccount } from '../../support/desk.js'
import { chain } from '../../support/x402Desk.js'

test('a channel that owes as much as it may is claimed, and goes on', async () => {
  const sale = openSale()
  const shop = await sale.open({ offer: { mostUnclaimed: '0.02' } })
  shop.run()
  const buyer = await fundedAccount(chain, deposit)
  const ask = async (times: bigint) => {
    const asked = { max: times * most, ...(times === 1n ? { deposit } : {}) }
    return (await sale.buy(shop, buyer, asked)).status
  }
  expect(await ask(1n)).toBe(200)
  expect(await ask(2n)).toBe(200)
  expect(await ask(3n)).toBe(503)
  await until(async () => (await ask(3n)) === 200)
  const { channels } = await shop.channels.list()
  expect(channels).toMatchObject([{ claimed: 2n * most, charged: 3n * most }])
  await sale.expectNothingLost(shop)
})
