import { preparePayment } from 'countersign'
import { startDevChain } from 'countersign/devchain'
import { createOrders } from 'countersign/orders'
import { memoryStore } from 'countersign/store'
import { createClient, http } from 'viem'
import { base } from 'viem/chains'
import { afterAll, expect, test } from 'vitest'
import { newAccount } from '../../support/desk.js'
import { openShop, storedOrder } from '../../support/shop.js'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

const account = newAccount()
const mistaken = createClient({
  chain: base,
  account,
  transport: http(chain.urls.http),
})
const message =
  "chainId must be 8453, the chain of the client, not 31337 (number). Correct the client's chain, or the URL of its node."

test('a client of another chain than its node is named with both chains', async () => {
  const prepared = preparePayment(mistaken, {
    token: chain.token,
    from: account.address,
    to: chain.token,
    amount: '1',
  })
  await expect(prepared).rejects.toThrow(message)
})

test('orders name the two chains as well', async () => {
  const orders = createOrders({
    store: memoryStore(),
    seal: 'none',
    tokens: [{ client: mistaken, token: chain.token }],
    wallets: [mistaken],
  })
  await expect(orders.draft({ amount: '1' })).rejects.toThrow(
    'The answer to eth_chainId is 31337, and not 8453: check the URL of the node.',
  )
})

test('a chain that was reset under an old database is a fault of health', async () => {
  const { test: node } = chain.clients
  const shop = await openShop(chain)
  const id = await node.snapshot()
  await storedOrder(chain, shop)
  await node.mine({ blocks: 20 })
  await shop.orders.reconcile()
  await node.revert({ id })
  const [{ fault, faultKind } = {}] = (await shop.orders.health()).chains
  expect(faultKind).toBe('behindDatabase')
  expect(fault).toContain('but this database has seen block')
})
