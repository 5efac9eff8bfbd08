import { startDevChain } from 'countersign/devchain'
import { afterAll, expect, test } from 'vitest'
import { memoryStore } from '../../../../src/store/memoryStore.js'
import { rpcError } from '../../support/desk.js'
import {
  capture,
  openShop,
  rowsOf,
  storeOrders,
  timesPaid,
} from '../../support/orderRows.js'
import { onSend } from '../../support/walletShop.js'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

test('an account nonce a browser wallet declined is used by a key of the same account', async () => {
  const [account] = chain.accounts.slice(5)
  if (!account) throw new Error('There are no accounts left.')
  const store = memoryStore()
  const browser = openShop(chain, {
    account: { address: account.address, type: 'json-rpc' },
    store,
    answer: onSend(chain, () =>
      Promise.reject(rpcError(4001, 'User rejected the request.')),
    ),
  })
  const [first, second] = await storeOrders(browser, 2)
  expect(await capture(browser, first)).toMatchObject({
    reason: 'signingDeclined',
  })
  await browser.engine.stop()

  const server = openShop(chain, { account, store })
  expect(await capture(server, second)).toMatchObject({ status: 'captured' })
  expect(await capture(server, first)).toMatchObject({ status: 'captured' })
  expect(await timesPaid(server, [first ?? '', second ?? ''])).toEqual([1, 1])
  const { transactions } = await rowsOf(server, [second ?? ''])
  expect(transactions).toMatchObject([{ nonce: 0, bump: 1, inFlight: false }])
})
