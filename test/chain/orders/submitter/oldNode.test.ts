import { startDevChain } from 'countersign/devchain'
import type { Observation } from 'countersign/orders'
import { memoryStore } from 'countersign/store'
import { numberToHex } from 'viem'
import { afterAll, expect, test } from 'vitest'
import { fakeNode, fundedAccount } from '../../support/desk.js'
import { openShop, type Shop, storedOrder } from '../../support/shop.js'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

const patience = { timeout: 60_000 }

const policy = { capture: 'onAccept' } as const

test.each([
  ['that saw newer ones', false],
  ['that started only then, over a database that knows newer ones,', true],
])(
  'a worker %s rehearses and sends nothing while the node shows blocks of last week, names it, and captures once it is right',
  async (_, startsThen) => {
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
    const store = memoryStore()
    const open = () =>
      openShop(chain, {
        store,
        client: node.client,
        wallets: [node.client],
        sellers: [account],
        observe: (one) => told.push(one),
        policy: { ...policy, pollingInterval: 20 },
      })
    const honest = await openShop(chain, { store, sellers: [account], policy })
    const start = ({ orders }: Shop) => {
      const ending = new AbortController()
      const running = orders.run({ signal: ending.signal })
      return async () => {
        ending.abort()
        await running
      }
    }
    let shop = await open()
    let stop = start(shop)
    const stateOf = async (orderId: string) =>
      (await honest.orders.get({ orderId })).state
    const first = await storedOrder(chain, honest)
    await expect.poll(() => stateOf(first.id), patience).toBe('captured')

    isOld = true
    if (startsThen) {
      await stop()
      shop = await open()
      stop = start(shop)
    }
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
    await stop()
  },
)
