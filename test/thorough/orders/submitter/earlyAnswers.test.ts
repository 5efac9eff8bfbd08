import { type DevChain, startDevChain } from 'countersign/devchain'
import type { CaptureResult } from 'countersign/orders'
import { memoryStore } from 'countersign/store'
import { expect, test } from 'vitest'
import { seededRandom } from '../../../../src/testing/seededRandom.js'
import { fundedAccount } from '../../../chain/support/desk.js'
import {
  openShop,
  type Shop,
  storedOrder,
} from '../../../chain/support/shop.js'

const firstSeed = Number(process.env.COUNTERSIGN_SEED ?? 1)
const seeds = Array.from({ length: 12 }, (_, at) => firstSeed + at)

/** Each order costs 12.50; three of them may be at risk at once. */
const most = 37_500_000n
const steps = 40

type Sold = { id: string; buyer: `0x${string}`; answer?: CaptureResult }

/** Two processes that share a store and an account, and can be restarted. */
async function openProcesses(chain: DevChain): Promise<Shop[]> {
  const store = memoryStore()
  const sellers = [await fundedAccount(chain)]
  const open = () =>
    openShop(chain, {
      store,
      sellers,
      policy: {
        mostAtRisk: { total: '37.5' },
        lease: 1_000,
        pollingInterval: 20,
      },
    })
  return [await open(), await open()]
}

/** What is at risk, as the store has it. */
async function atRisk({ store }: Shop, chain: DevChain): Promise<bigint> {
  const { id: chainId } = chain.chain
  const token = chain.token.toLowerCase() as `0x${string}`
  const rows = await store.read(({ orders }) =>
    orders.findEarly({ chainId, token, early: ['reserved', 'answered'] }),
  )
  return rows.reduce((sum, { value }) => sum + value, 0n)
}

/** What the schedules led to, so that none of them tests nothing. */
const seen = { early: 0, later: 0, told: 0 }

test.each(seeds)(
  'whatever blocks drop and replace, each answer is paid or told, and the limit holds: seed %s',
  async (seed) => {
    const random = seededRandom(seed)
    const below = (count: number) => Math.floor(random() * count)
    const chain = await startDevChain({
      preconfirmations: 'flashblocks',
      blockTime: 0,
      tick: 0,
    })
    const shops = await openProcesses(chain)
    const [first] = shops
    if (!first) throw new Error('no shop')
    const sold: Sold[] = []
    const waiting: Promise<unknown>[] = []
    const { tick, seal, dropPending, reorder } = chain.preconfirmations
    // No reorganization takes the account's ether back.
    for (let blocks = 0; blocks < 3; blocks++) await seal()
    const sell = async () => {
      const { id, buyer } = await storedOrder(chain, first)
      const one: Sold = { id, buyer: buyer.address }
      sold.push(one)
      const capture = shops[below(shops.length)]?.orders.capture({
        orderId: id,
        answerAt: 'preconfirmed',
        preconfirmedUpTo: '12.5',
        timeout: 600_000,
      })
      waiting.push(
        Promise.resolve(capture).then((answer) => {
          if (answer) one.answer = answer
        }),
      )
    }
    const acts = [
      sell,
      sell,
      sell,
      tick,
      tick,
      tick,
      seal,
      reorder,
      () => dropPending(),
      () => chain.reorg({ depth: 1 }),
      async () => {
        const account = sold[below(sold.length)]?.buyer
        if (account) await chain.block({ account })
      },
      async () => {
        await new Promise((resolve) => setTimeout(resolve, 60))
      },
    ]
    try {
      for (let step = 0; step < steps; step++) {
        await acts[below(acts.length)]?.()
        await new Promise((resolve) => setTimeout(resolve, 30))
        expect(await atRisk(first, chain)).toBeLessThanOrEqual(most)
      }
      // From here on, blocks stay.
      let isOver = false
      const end = Promise.all(waiting).finally(() => {
        isOver = true
      })
      end.catch(() => undefined)
      const isOpen = async () => {
        const orders = await Promise.all(
          sold.map(({ id }) => first.orders.get({ orderId: id })),
        )
        return orders.some(({ state }) => state === 'capturing')
      }
      const work = new AbortController()
      const running = first.orders.run({ signal: work.signal })
      while (!isOver || (await isOpen())) {
        await tick()
        await seal()
        await new Promise((resolve) => setTimeout(resolve, 30))
      }
      await end
      work.abort()
      await running
      const { events } = await first.orders.events({ limit: 1_000 })
      for (const { id, answer } of sold) {
        const { state } = await first.orders.get({ orderId: id })
        const told = events.filter(
          ({ orderId, type }) => orderId === id && type === 'servedUnpaid',
        ).length
        const isEarly = answer?.status === 'preconfirmed'
        if (isEarly) seen.early++
        else if (state === 'captured') seen.later++
        if (told > 0) seen.told++
        if (state === 'captured') continue
        expect([id, isEarly, told > 0]).toEqual([id, isEarly, isEarly])
      }
      expect(await atRisk(first, chain)).toBe(0n)
      expect((await first.orders.audit()).ok).toBe(true)
    } finally {
      for (const { orders } of shops) await orders.close()
      await chain.stop()
    }
  },
  600_000,
)

test('the schedules had answers before a block and after it, and losses', () => {
  expect(Math.min(seen.early, seen.later, seen.told)).toBeGreaterThan(0)
})
