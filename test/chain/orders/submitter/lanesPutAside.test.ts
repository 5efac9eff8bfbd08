import { startDevChain } from 'countersign/devchain'
import { afterAll, expect, test } from 'vitest'
import { readHealth } from '../../../../src/orders/verbs/readHealth.js'
import { fakeNode, fundedAccount, rpcError } from '../../support/desk.js'
import { capture, openShop, storeOrders } from '../../support/orderRows.js'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

test('health names a lane that fails until it works again', async () => {
  let isDown = true
  const { client } = fakeNode(chain, ({ method }, forward) =>
    isDown && method === 'eth_gasPrice'
      ? Promise.reject(rpcError(-32005, 'limit exceeded'))
      : forward(),
  )
  const shop = openShop(chain, { account: await fundedAccount(chain), client })
  const [id] = await storeOrders(shop, 1)
  const captured = capture(shop, id)
  const laneHealth = async () => (await readHealth(shop.context)).lanes[0]
  const failing = async () => (await laneHealth())?.putAside ?? []
  await expect.poll(failing).toMatchObject([{ what: 'lane' }])
  const [entry] = await failing()
  expect(entry?.reason).toBe('NodeError')
  isDown = false
  expect((await captured).status).toBe('captured')
  expect(await failing()).toEqual([])
})
