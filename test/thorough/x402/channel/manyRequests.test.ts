import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteStore } from 'countersign/sql'
import { getTransactionCount } from 'viem/actions'
import { afterAll, expect, test } from 'vitest'
import {
  openChannelShop,
  stockPayer,
} from '../../../chain/support/channelShop.js'
import { balanceOf, chain } from '../../../chain/support/x402Desk.js'

const folder = mkdtempSync(join(tmpdir(), 'countersign-channel-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('the stock client pays for a thousand requests with three transactions', async () => {
  const store = sqliteStore({ file: join(folder, 'channel.db') })
  const shop = await openChannelShop(() => Response.json({}), {
    store,
    offer: { atMost: '0.001', deposit: '1.50' },
  })
  const { url, channels, seller } = shop
  const { account, fetch, scheme } = await stockPayer(2n)
  const sent = () =>
    getTransactionCount(chain.clients.public, { address: seller })
  const before = await sent()
  for (let count = 0; count < 1_000; count++) {
    const answer = await fetch(`${url}/${count}`)
    if (answer.status !== 200) throw new Error(`${count}: ${answer.status}`)
  }
  expect(await sent()).toBe(before + 1)
  const [channel] = (await channels.list()).channels
  expect(channel).toMatchObject({ charged: 1_000_000n, balance: 1_500_000n })
  const settled = await scheme.refund(`${url}/`)
  expect(settled).toMatchObject({ success: true, amount: '500000' })
  expect(await sent()).toBe(before + 3)
  expect(await balanceOf(account.address)).toBe(1_000_000n)
  expect(await balanceOf(seller)).toBe(1_000_000n)
})
