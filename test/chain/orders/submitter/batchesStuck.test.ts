import { startDevChain } from 'countersign/devchain'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { runWorker } from '../../../../src/orders/runWorker.js'
import { draft, fundedAccount } from '../../support/desk.js'
import { putMulticall } from '../../support/multicall3.js'
import {
  captureAll,
  openShop,
  rowsOf,
  storeOrder,
  timesPaid,
} from '../../support/orderRows.js'

const chain = await startDevChain({ blockTime: 0, accounts: 20 })
afterAll(() => chain.stop())
await putMulticall(chain)
const { test: node, public: reader } = chain.clients

test('a payment whose window ends in a transaction that costs too much to replace expires, and the others wait', async () => {
  const account = await fundedAccount(chain)
  const shop = openShop(chain, {
    account,
    // Twice what the captures cost now.
    policy: { bumpAfter: 5, maxFee: 400_000n * 10n ** 9n },
  })
  const { timestamp } = await reader.getBlock()
  const ids: string[] = []
  for (const window of [100n, 10_000n]) {
    const signer = await fundedAccount(chain, 2_000_000n)
    const payment = await draft(chain, {
      to: account.address,
      amount: '1',
      primaryType: 'TransferWithAuthorization',
      signer,
      validBefore: timestamp + window,
    })
    ids.push(await storeOrder(shop, payment))
  }
  await node.setAutomine(false)
  const results = captureAll(shop, ids)
  const sent = async () => (await rowsOf(shop, ids)).transactions
  await expect.poll(sent, { timeout: 20_000 }).toHaveLength(1)
  await node.request({ method: 'anvil_dropAllTransactions' } as never)
  const dear = { baseFeePerGas: 10n ** 12n }
  await node.setNextBlockBaseFeePerGas(dear)
  const stop = new AbortController()
  const running = runWorker(shop.context, shop.engine, { signal: stop.signal })
  onTestFinished(async () => {
    stop.abort()
    await running
  })
  const states = async () => {
    const { orders } = await rowsOf(shop, ids)
    return ids.map((id) => orders.find((one) => one.id === id)?.state)
  }
  await expect
    .poll(
      async () => {
        await chain.warp(20)
        await node.setNextBlockBaseFeePerGas(dear)
        return states()
      },
      { timeout: 30_000, interval: 200 },
    )
    .toEqual(['expired', 'capturing'])
  expect((await sent()).map(({ inFlight }) => inFlight)).toEqual([true])
  await node.setNextBlockBaseFeePerGas({ baseFeePerGas: 10n ** 9n })
  await node.setAutomine(true)
  await node.mine({ blocks: 1 })
  await node.setNextBlockBaseFeePerGas({ baseFeePerGas: 10n ** 9n })
  expect(await results).toEqual(['rejected', 'captured'])
  expect(await timesPaid(shop, ids)).toEqual([0, 1])
})
