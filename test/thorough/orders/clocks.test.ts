import { startDevChain } from 'countersign/devchain'
import { memoryStore } from 'countersign/store'
import { afterAll, expect, test } from 'vitest'
import { submitterKey } from '../../../src/orders/account/submitterState.js'
import { contextOf } from '../../../src/orders/contextOf.js'
import { watchKey } from '../../../src/orders/watcher/watchKeys.js'
import {
  isFull,
  seed,
  sqliteFile,
  startChance,
} from '../../chain/support/chaos.js'
import { rpcError } from '../../chain/support/desk.js'
import { untilOver } from '../../chain/support/faultRun.js'
import { openFaultShop } from '../../chain/support/faultShop.js'
import {
  findAllProblems,
  startHardNode,
} from '../../chain/support/hardTimes.js'
import { startLiveChain } from '../../chain/support/liveChain.js'
import { openShop, pay, storedOrder } from '../../chain/support/shop.js'
import {
  hour,
  type MovedClock,
  moveClocks,
} from '../../unit/support/movedClocks.js'
import { eventually } from '../../unit/support/webhooksRun.js'

const chain = await startDevChain({ blockTime: 0, token: 'usdc' })
const live = await startLiveChain()
// Time goes on whatever happens, and with it what is safe and final.
const clock = setInterval(() => chain.warp(3).catch(() => undefined), 100)
afterAll(async () => {
  clearInterval(clock)
  await chain.stop()
  await live.stop()
})

const schedules = isFull ? 100 : 2

/** Looks within which all is over once the clocks are right again. */
const mostLooks = 1_500

const stores = [
  ['memory', () => memoryStore()],
  ['SQLite', () => sqliteFile().store],
] as const

test.each(stores)(
  `workers whose clocks differ and jump by hours capture every payment once, in %s (seed ${seed})`,
  { timeout: 600_000 },
  async (_, createStore) => {
    const random = startChance(4)
    const { under } = moveClocks()
    for (let schedule = 0; schedule < schedules; schedule++) {
      const clocks: MovedClock[] = [{ ahead: 0 }, { ahead: -hour }]
      const node = startHardNode(chain)
      const jumping = setInterval(() => {
        const jumps = [-hour, 0, hour, Math.floor((random() - 0.5) * 2 * hour)]
        for (const one of clocks)
          if (random() < 0.3)
            one.ahead = jumps[Math.floor(random() * jumps.length)] ?? 0
      }, 20)
      // The node fails for a while, so that all kinds of pauses begin.
      node.standAt(1 + random() * 200, 4, () =>
        Promise.reject(rpcError(-32_603, 'out of order')),
      )
      const shop = await openFaultShop(chain, node.connect, {
        store: createStore(),
        sellsHonestly: true,
        startWorker: (place, run) => under(clocks[place] ?? { ahead: 0 }, run),
      })
      await node.restored
      clearInterval(jumping)
      await untilOver(shop, node, node.looks() + mostLooks)
      await shop.stop()
      expect(await findAllProblems(chain, shop)).toEqual([])
    }
  },
)

test('what a worker held when its clock was set back and it died, another takes over', async () => {
  const { under } = moveClocks()
  const shop = await openShop(chain, { policy: { capture: 'onAccept' } })
  const { orders, store, seller } = shop
  const { id } = await storedOrder(chain, shop)
  const chainId = chain.chain.id
  const keys = [
    submitterKey({ chainId, account: seller }),
    watchKey(contextOf(orders).context, { chainId }),
  ]
  await under({ ahead: hour }, async () => {
    for (const key of keys)
      await store.takeLease({ key, owner: 'dead', milliseconds: 100 })
  })
  const ending = new AbortController()
  const running = orders.run({ signal: ending.signal })
  await eventually(async () => (await orders.get({ orderId: id })).state).toBe(
    'captured',
  )
  ending.abort()
  await running
  await orders.close()
})

test('a worker whose clock is an hour off captures what was accepted, and takes nothing new until it is right', async () => {
  const { under } = moveClocks()
  const place = live as unknown as typeof chain
  const words: unknown[] = []
  const shop = await openShop(place, {
    policy: { capture: 'onAccept', fulfilAt: 'included', pollingInterval: 50 },
    observe: ({ attributes }) => words.push(attributes.error),
  })
  const { orders } = shop
  for (const ahead of [hour, -hour]) {
    const wrong: MovedClock = { ahead: 0 }
    const { id } = await storedOrder(place, shop)
    const { order, payment } = await orders.draft({ amount: '1' })
    const ending = new AbortController()
    const running = under(wrong, () => {
      wrong.ahead = ahead
      return orders.run({ signal: ending.signal })
    })
    await eventually(
      async () => (await orders.get({ orderId: id })).state,
    ).toBe('captured')
    await live.clients.test.mine({ blocks: 3 })
    const refund = { orderId: id, refundId: 'one', amount: '2.50' }
    await orders.refund(refund)
    await eventually(() => words).toContain('ClockSkewError')
    const signed = await pay(live.clients.payer.account, payment)
    const refused = { name: 'ClockSkewError', retryable: true }
    await under(wrong, async () => {
      await expect(orders.draft({ amount: '1' })).rejects.toMatchObject(refused)
      await expect(
        orders.accept({ orderId: order.id, payment: signed }),
      ).rejects.toMatchObject(refused)
    })
    expect((await orders.get({ orderId: id })).refunded).toBe(0n)
    wrong.ahead = 0
    await eventually(async () => {
      await live.clients.test.mine({ blocks: 1 })
      return (await orders.get({ orderId: id })).refunded
    }).toBe(2_500_000n)
    ending.abort()
    await running
    words.length = 0
  }
  await orders.reconcile()
  expect((await orders.audit()).ok).toBe(true)
  await orders.close()
})
