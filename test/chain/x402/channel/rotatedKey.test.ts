import { memoryStore } from 'countersign/store'
import { expect, test } from 'vitest'
import {
  deposit,
  most,
  openChannelShop,
  stockPayer,
} from '../../support/channelShop.js'
import { fundedAccount } from '../../support/desk.js'
import { balanceOf, chain } from '../../support/x402Desk.js'

test('after a rotation of the key, what the old channels owe is claimed, and clients open new ones', async () => {
  const given = { store: memoryStore(), sellers: [await fundedAccount(chain)] }
  const shop = await openChannelShop(() => Response.json({}), given)
  const { account, fetch: pay } = await stockPayer(2n)
  for (const path of 'ab') await pay(`${shop.url}/${path}`)
  const [old] = (await shop.channels.list()).channels
  if (!old) throw new Error('no channel')
  const rotated = await shop.channels.rotateKey()
  expect(rotated).toEqual({
    address: expect.stringMatching(/^0x[\da-f]{40}$/),
    claims: { claimed: 1, pending: 0, rejected: 0 },
  })
  expect(await balanceOf(shop.seller)).toBe(2n * most)
  // A gate that has not noticed yet still charges the old channel.
  expect((await pay(`${shop.url}/c`)).status).toBe(200)
  const later = await openChannelShop(() => Response.json({}), given)
  for (const path of 'de')
    expect((await pay(`${later.url}/${path}`)).status).toBe(200)
  const { channels } = await shop.channels.list()
  expect(channels.map(({ charged }) => charged)).toEqual([2n * most, 3n * most])
  expect(await shop.channels.claim()).toMatchObject({ claimed: 2 })
  expect(await balanceOf(shop.seller)).toBe(5n * most)
  const { channelId } = old
  const { status } = await shop.channels.refund({ channelId })
  expect(status).toBe('refunded')
  expect(await balanceOf(account.address)).toBe(deposit - 3n * most)
})
