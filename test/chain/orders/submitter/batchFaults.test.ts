import { delegateSubmitter } from 'countersign/batches'
import { startDevChain } from 'countersign/devchain'
import { sealer } from 'countersign/store'
import { createWalletClient, http } from 'viem'
import { setBalance } from 'viem/actions'
import { afterAll, expect, test } from 'vitest'
import { draft, fundedAccount } from '../../support/desk.js'
import {
  captureAll,
  openShop,
  rowsOf,
  storeOrder,
  timesPaid,
} from '../../support/orderRows.js'

const chain = await startDevChain({ blockTime: 0, accounts: 20, batches: true })
afterAll(() => chain.stop())

test('a delegated account that has captured one payment alone batches the next ones', async () => {
  const account = await fundedAccount(chain)
  const { address } = account
  await setBalance(chain.clients.test, { address, value: 10n ** 18n })
  const wallet = createWalletClient({
    account,
    chain: chain.chain,
    transport: http(chain.urls.http),
  })
  await delegateSubmitter(wallet)
  const keys = { one: new Uint8Array(32).fill(1) }
  const shop = openShop(chain, {
    account,
    seal: sealer({ keys, current: 'one' }),
  })
  const store = async () => {
    const signer = await fundedAccount(chain, 2_000_000n)
    return storeOrder(
      shop,
      await draft(chain, { to: address, amount: '1', signer }),
    )
  }
  expect(await captureAll(shop, [await store()])).toEqual(['captured'])
  const ids: string[] = []
  for (let at = 0; at < 8; at++) ids.push(await store())
  await captureAll(shop, ids)
  const { transactions } = await rowsOf(shop, ids)
  expect(transactions.length).toBeLessThan(8)
  expect(await timesPaid(shop, ids)).toEqual(ids.map(() => 1))
})
