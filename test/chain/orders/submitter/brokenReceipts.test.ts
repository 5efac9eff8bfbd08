import { startDevChain } from 'countersign/devchain'
import { afterAll, expect, test } from 'vitest'
import { getHealth } from '../../../../src/orders/verbs/getHealth.js'
import { fakeNode, fundedAccount, rpcError } from '../../support/desk.js'
import { capture, openShop, storeOrders } from '../../support/orderRows.js'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

test.each(['an error', 'a receipt without its gas'])(
  'a receipt for which the node gives %s holds up no other capture, and health names it',
  async (how) => {
    let isBroken = true
    let broken: unknown
    const { client } = fakeNode(chain, async ({ method, params }, forward) => {
      const answer = await forward()
      if (method !== 'eth_getTransactionReceipt' || !answer) return answer
      const [hash] = Object(params)
      broken ??= hash
      if (hash !== broken || !isBroken) return answer
      if (how === 'an error') throw rpcError(-32000, 'receipt is corrupt')
      return { ...Object(answer), gasUsed: null }
    })
    const account = await fundedAccount(chain)
    const shop = openShop(chain, { account, client })
    const [first, second] = await storeOrders(shop, 2)
    const waiting = capture(shop, first)
    await expect.poll(() => broken).toBeDefined()
    expect((await capture(shop, second)).status).toBe('captured')
    const { submitters } = await getHealth(shop.context)
    expect(submitters[0]?.putAside.map(({ what }) => what)).toEqual([
      'settle nonce 0',
    ])
    isBroken = false
    expect((await waiting).status).toBe('captured')
  },
)
