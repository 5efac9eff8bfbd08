import { startDevChain } from 'countersign/devchain'
import type { Observation } from 'countersign/orders'
import { numberToHex } from 'viem'
import { afterAll, expect, test } from 'vitest'
import { fakeNode, fundedAccount } from '../../support/desk.js'
import { openShop, storedOrder } from '../../support/shop.js'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

const patience = { timeout: 60_000 }

const policy = { capture: 'onAccept' } as const

test('while a node shows blocks of last week nothing is rehearsed or sent, it is named, and the capture follows once it is right', async () => {
  let isOld = false
  const account = await fundedAccount(chain)
  const node = fakeNode(
    chain,
    async ({ method, params }, forward) => {
      const answer = await forward()
      const isLatest =
        method === 'eth_getBlockByNumber' && Object(params)[0] === 'latest'
      if (!isOld || !isLatest) return answer
      const block = Object(answer)
      const timestamp = numberToHex(BigInt(block.timestamp) - 604_800n)
      return { ...block, timestamp }
    },
    account,
  )
  const told: Observation[] = []
  const shop = await openShop(chain, {
    client: node.client,
    wallets: [node.client],
    sellers: [account],
    observe: (one) => told.push(one),
    policy: { ...policy, pollingInterval: 20 },
  })
  const { store } = shop
  const honest = await openShop(chain, { store, sellers: [account], policy })
  const stop = new AbortController()
  const running = shop.orders.run({ signal: stop.signal })
  const stateOf = async (orderId: string) =>
    (await honest.orders.get({ orderId })).state
  const first = await storedOrder(chain, honest)
  await expect.poll(() => stateOf(first.id), patience).toBe('captured')

  isOld = true
  const second = await storedOrder(chain, honest)
  const problems = () =>
    told.flatMap(({ name, attributes }) =>
      name === 'submitter.failed' ? [String(attributes.words)] : [],
    )
  await expect.poll(() => problems().length, patience).toBeGreaterThan(0)
  expect(problems()[0]).toMatch(
    /^The answer to eth_getBlockByNumber names \d+ as latest block, whose time \d+ is long before that of blocks seen before: the node may be restored to an older state\.$/,
  )
  expect(await stateOf(second.id)).toBe('stored')
  const { submitters } = await shop.orders.health()
  expect(submitters).toMatchObject([
    { putAside: [{ what: 'submitter', reason: 'NodeAnswerError' }] },
  ])

  isOld = false
  await expect.poll(() => stateOf(second.id), patience).toBe('captured')
  stop.abort()
  await running
})
