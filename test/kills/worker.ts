import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Boundaries, createBoundaries, die } from './boundaries.js'
import { finalityOf, isDone } from './isDone.js'
import { blockMiner } from './mineBlock.js'
import { openShop, type Shop } from './openShop.js'
import { passNode } from './passNode.js'
import { passStore } from './passStore.js'
import { passWallet } from './passWallet.js'
import type { Plan, Told } from './plan.js'

/**
 * A process that does one thing with orders and can be told where to die. It
 * prints the points it passed.
 */
async function main(plan: Plan): Promise<void> {
  const { kill, url } = plan
  const mine = blockMiner(url)
  const boundaries = createBoundaries(kill)
  passNode(url, boundaries)
  const shop = openWrapped(plan, boundaries)
  if (kill && 'afterMs' in kill)
    setTimeout(() => die(`after ${kill.afterMs} ms`), kill.afterMs)
  const results = await runFlow(shop, plan, mine)
  const points = [...boundaries.passed]
  await shop.orders.close()
  const told: Told = { points, results }
  process.stdout.write(`${JSON.stringify(told)}\n`)
}

function openWrapped(plan: Plan, boundaries: Boundaries): Shop {
  return openShop(plan, {
    store: (store) => passStore(store, boundaries),
    wallet: (account) => passWallet(account, boundaries),
  })
}

/** Does it, and tells in a word each what came of it. */
async function runFlow(
  shop: Shop,
  plan: Plan,
  mine: () => Promise<void>,
): Promise<string[]> {
  const { flow, orderIds, payments, cancellations } = plan
  const { orders } = shop
  switch (flow) {
    case 'accept':
      return Promise.all(
        orderIds.map(async (orderId, index) => {
          const payment = payments[index]
          const verdict = await orders.accept({ orderId, payment })
          return verdict.ok ? 'ok' : verdict.reason
        }),
      )
    case 'batch':
    case 'batchDelegated':
    case 'capture':
      return Promise.all(
        orderIds.map(
          async (orderId) => (await orders.capture({ orderId })).status,
        ),
      )
    case 'cancel':
      for (const [index, cancellation] of cancellations.entries())
        await orders.acceptCancellation({
          orderId: orderIds[index] ?? '',
          cancellation,
        })
      await watch(shop, orderIds, mine)
      return []
    case 'changeRecipients':
      await orders.changeRecipients(plan.change ?? {})
      return []
    case 'reconcile':
      await orders.reconcile()
      return []
    case 'watch':
      await watch(shop, orderIds, mine)
      return []
    case 'work':
      await work(shop)
      return []
  }
}

/** Works until it is told to stop. */
async function work({ orders }: Shop): Promise<void> {
  const stop = new AbortController()
  process.once('SIGTERM', () => stop.abort())
  process.stdout.write('working\n')
  await orders.run({ signal: stop.signal })
}

/** Works until all is final, on a chain that goes on when something happened. */
async function watch(
  { orders }: Shop,
  orderIds: readonly string[],
  mine: () => Promise<void>,
): Promise<void> {
  const stop = new AbortController()
  // One thing after the other, so that it passes the same points each time.
  const running = orders.run({ signal: stop.signal, concurrency: 1 })
  let before = ''
  for (let looks = 0; ; looks++) {
    const found = await Promise.all(
      orderIds.map((orderId) => orders.get({ orderId })),
    )
    if (found.every(isDone)) break
    const now = found.map(finalityOf).join('')
    if (now !== before || looks % 100 === 99) await mine()
    before = now
    await sleep(20)
  }
  stop.abort()
  await running
}

// Nobody is left to follow it.
process.stdin.once('end', () => process.exit(1)).resume()
await main(JSON.parse(process.argv[2] ?? ''))
process.stdin.destroy()
