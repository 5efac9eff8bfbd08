import { startDevChain } from 'countersign/devchain'
import { afterAll, expect, test } from 'vitest'
import { fakeNode } from '../../support/desk.js'
import { openShop } from '../../support/shop.js'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

test('health names the chain of a node that is on another one, and shows none of its blocks', async () => {
  const { client } = fakeNode(chain, async ({ method }, forward) =>
    method === 'eth_chainId' ? '0x2105' : forward(),
  )
  const { orders } = await openShop(chain, { client })
  const { chains, destinations } = await orders.health()
  expect(chains).toEqual([
    {
      chainId: 31337,
      block: undefined,
      time: undefined,
      fault: 'the node is on chain 8453, and not 31337: check its URL',
      faultKind: 'otherChain',
    },
  ])
  expect(destinations[0]?.lag).toBeUndefined()
})
