import { startDevChain } from 'countersign/devchain'
import { afterAll, expect, test } from 'vitest'
import { getHealth } from '../../../../src/orders/verbs/getHealth.js'
import { fakeNode, fundedAccount, rpcError } from '../../support/desk.js'
import { capture, openShop, storeOrders } from '../../support/orderRows.js'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

test('health names a submitter that fails until it works again', async () => {
  let isDown = true
  const { client } = fakeNode(chain, ({ method }, forward) =>
    isDown && method === 'eth_getTransactionCount'
      ? Promise.reject(rpcError(-32005, 'limit exceeded'))
      : forward(),
  )
  const shop = openShop(chain, { account: await fundedAccount(chain), client })
  const [id] = await storeOrders(shop, 1)
  const captured = capture(shop, id)
  const submitterHealth = async () =>
    (await getHealth(shop.context)).submitters[0]
  const failing = async () => (await submitterHealth())?.putAside ?? []
  await expect.poll(failing).toMatchObject([{ what: 'submitter' }])
  const [entry] = await failing()
  expect(entry?.reason).toBe('NodeError')
  isDown = false
  expect((await captured).status).toBe('captured')
  expect(await failing()).toEqual([])
})
