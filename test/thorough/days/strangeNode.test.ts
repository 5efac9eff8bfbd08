// The first time, all of this held but one thing: while the node was on another
// chain, `draft` said that the field `chainId` was wrong, and a retry useless.
import { type DevChain, startDevChain } from 'countersign/devchain'
import type { DraftedOrder } from 'countersign/orders'
import { sqliteStore } from 'countersign/sql'
import { createClient, http } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { sqliteFile } from '../../chain/support/chaos.js'
import { countOf, fundedAccount } from '../../chain/support/desk.js'
import { findBookProblems } from '../../chain/support/hardTimes.js'
import { startLiveChain } from '../../chain/support/liveChain.js'
import { openShop, pay, type Shop } from '../../chain/support/shop.js'
import {
  type SwitchedNode,
  startSwitchedNode,
} from '../../chain/support/switchedNode.js'
import {
  hour,
  type MovedClock,
  moveClocks,
} from '../../unit/support/movedClocks.js'

// Under Base's own chain id, where the clock of the chain is checked.
const live = await startLiveChain()
const restored = await startLiveChain()
const other = await startDevChain({ blockTime: 0.3 })
const chain = live as unknown as DevChain
const mining = setInterval(() => {
  for (const one of [live, restored])
    one.clients.test.mine({ blocks: 1 }).catch(() => undefined)
}, 1_000)
afterAll(async () => {
  clearInterval(mining)
  await Promise.all([live, restored, other].map((one) => one.stop()))
})

const patience = { timeout: 300_000 }
const week = 7 * 24 * hour

/** Requests that a strange node answers before it is right again. */
const strangeRequests = 60

type Drafted = DraftedOrder & { buyer: PrivateKeyAccount; payment: unknown }

async function draft({ orders }: Shop): Promise<Drafted> {
  const buyer = await fundedAccount(chain, 12_500_000n)
  const drafted = await orders.draft({ amount: '12.50' })
  return { ...drafted, buyer, payment: await pay(buyer, drafted.payment) }
}

/** Accepts payments, each by itself. Returns the orders. */
async function accept({ orders }: Shop, sales: readonly Drafted[]) {
  const asked = sales.map(({ order: { id: orderId }, payment }) =>
    orders.accept({ orderId, payment }),
  )
  for (const verdict of await Promise.all(asked))
    expect(verdict).toMatchObject({ ok: true })
  return sales.map(({ order }) => order.id)
}

/** Two shops of one merchant over one database and one node, with their words. */
async function openShops(node: SwitchedNode) {
  const account = await fundedAccount(chain, 1_000_000_000n)
  const { file, store } = sqliteFile()
  const words = new Set<unknown>()
  const wallet = createClient({
    account,
    chain: live.chain,
    transport: http(node.url),
  })
  const open = (own = store) =>
    openShop(chain, {
      url: node.url,
      store: own,
      wallets: [wallet],
      policy: {
        capture: 'onAccept',
        fulfilAt: 'included',
        lease: 1_000,
        pollingInterval: 100,
      },
      observe: ({ attributes }) => words.add(attributes.words),
    })
  const shops = [await open(), await open(sqliteStore({ file }))] as const
  const ending = new AbortController()
  const { signal } = ending
  const running = Promise.all(shops.map(({ orders }) => orders.run({ signal })))
  onTestFinished(async () => {
    ending.abort()
    await running
    await Promise.all(shops.map(({ orders }) => orders.close()))
  })
  return { shop: shops[0], account, words }
}

async function eventsAfter({ orders }: Shop, after: bigint) {
  return orders.events({ after, limit: 1_000 })
}

test('a node that was on another chain, and then a week behind, decided nothing, was named, and all was captured once it was right', async () => {
  const { under } = moveClocks()
  const clock: MovedClock = { ahead: 0 }
  await under(clock, async () => {
    const node = await startSwitchedNode(live.urls.http)
    const { shop, account, words } = await openShops(node)
    const { orders } = shop
    const sold = await accept(shop, [await draft(shop), await draft(shop)])
    const captured = async () => {
      const asked = sold.map((orderId) => orders.get({ orderId }))
      const all = await Promise.all(asked)
      return all.filter(({ capture }) => capture?.finality !== 'finalized')
    }
    await expect.poll(captured, patience).toEqual([])

    const state = await live.clients.test.dumpState()
    await restored.clients.test.loadState({ state })
    await live.clients.test.increaseTime({ seconds: week / 1_000 })
    await live.clients.test.mine({ blocks: 30 })
    const { timestamp } = await live.clients.public.getBlock()
    clock.ahead += Number(timestamp) * 1_000 - Date.now()
    // Where all windows are over, and the account is busier.
    await other.warp(2 * (week / 1_000))
    await other.clients.test.setNonce({
      address: account.address,
      nonce: 5_000,
    })
    sold.push(...(await accept(shop, [await draft(shop)])))
    await expect.poll(captured, patience).toEqual([])

    const refunds: { orderId: string; refundId: string; amount: string }[] = []
    for (const [strange, faultKind, told] of [
      [other, 'otherChain', 'is 31337, and not 8453: check the URL'],
      [restored, 'behindDatabase', 'which is older than block'],
    ] as const) {
      const waiting = [await draft(shop), await draft(shop), await draft(shop)]
      // Perhaps sent, and not yet seen in a block.
      const inFlight = [await draft(shop), await draft(shop)]
      sold.push(...(await accept(shop, inFlight)))
      words.clear()
      await node.leadTo(strange.urls.http)
      const asked = () => node.answered(strange.urls.http)
      await expect.poll(asked, patience).toBeGreaterThan(20)
      const { cursor } = await eventsAfter(shop, 0n)
      const before = await countOf(chain, account)
      const refund = {
        orderId: sold[0] ?? '',
        refundId: faultKind,
        amount: '2.50',
      }
      expect(await orders.refund(refund)).toMatchObject({ ok: true })
      refunds.push(refund)
      for (const { order, payment } of waiting)
        await expect(
          orders.accept({ orderId: order.id, payment }),
        ).rejects.toMatchObject({ retryable: true })
      await expect(orders.draft({ amount: '1' })).rejects.toMatchObject({
        retryable: true,
      })
      expect((await orders.health()).chains).toMatchObject([{ faultKind }])
      const until = asked() + strangeRequests
      await expect.poll(asked, patience).toBeGreaterThan(until)
      const { events } = await eventsAfter(shop, cursor)
      expect(events.map(({ type }) => type)).toEqual(['refundRequested'])
      expect(await countOf(chain, account)).toBe(before)
      expect([...words].join('\n')).toContain(told)

      await node.leadTo(live.urls.http)
      sold.push(...(await accept(shop, waiting)))
      sold.push(...(await accept(shop, [await draft(shop)])))
      await expect.poll(captured, patience).toEqual([])
      expect((await orders.health()).chains).toMatchObject([
        { fault: undefined },
      ])
    }

    const open = async () => {
      const { refunds } = await orders.get({ orderId: sold[0] ?? '' })
      return refunds.map(({ state }) => state)
    }
    await expect.poll(open, patience).toEqual(refunds.map(() => 'succeeded'))
    expect(await countOf(chain, account)).toBe(sold.length + refunds.length)
    // The same bytes may be sent again, and to any node.
    const right = node.sentTo(live.urls.http)
    for (const strange of [other, restored])
      for (const hash of node.sentTo(strange.urls.http))
        expect(right).toContain(hash)
    await orders.reconcile()
    expect(await orders.audit()).toMatchObject({
      ok: true,
      destinations: [{ captured: { count: sold.length } }],
    })
    expect(await findBookProblems(chain, orders)).toEqual([])
  })
})
