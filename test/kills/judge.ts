import { setTimeout as sleep } from 'node:timers/promises'
import type { SignedPayment } from 'countersign'
import type { OrderRecord } from 'countersign/store'
import { carries } from '../../src/store/movements.js'
import { checkRecord } from './checkRecord.js'
import { countSent } from './countSent.js'
import { findSecrets } from './findSecrets.js'
import { finalityOf, isDone } from './isDone.js'
import { openShop, openStore, type Shop } from './openShop.js'
import type { Plan } from './plan.js'
import { acceptPayment, type Stage } from './stage.js'

/** Looks without any change after which an order counts as stuck. */
const mostLooks = 600

/**
 * Follows a process that died: works on until every order is settled, and
 * tells what is wrong with the record or the chain. Nothing must be.
 */
export async function judge(stage: Stage): Promise<string[]> {
  const found = await inspect(stage)
  const shop = openShop(stage.plan)
  try {
    return [
      ...found.problems,
      ...(await recover(stage, shop, found)),
      ...(await checkRecord(stage, shop, found.isLost)),
      ...findSecrets(stage),
    ]
  } finally {
    await shop.orders.close()
  }
}

/** What the dead process left on record. */
type Left = {
  orders: readonly OrderRecord[]
  /** A wallet was asked, or not: nobody can know. It was not. */
  isLost: boolean
  problems: readonly string[]
}

async function inspect(stage: Stage): Promise<Left> {
  const { plan } = stage
  const store = openStore(plan.engine)
  const { orders, transactions } = await store.read(async (tables) => ({
    orders: await tables.orders.find({ ids: plan.orderIds }),
    transactions: await tables.transactions.find({ orderIds: plan.orderIds }),
  }))
  await store.close()
  const problems = orders
    .filter(
      ({ id, state, attempt }) =>
        /^(capturing|canceling)$/.test(state) &&
        !transactions.some((sent) => carries(sent, id, attempt)),
    )
    .map(({ state }) => `left an order ${state} without a transaction`)
  const isUnknown = transactions.some(
    ({ hash, inFlight }) => inFlight && hash === undefined,
  )
  const isLost = isUnknown && (await countSent(stage, 'pending')) === 0
  return { orders, isLost, problems }
}

/** Works on, as the merchant's next process does. */
async function recover(
  stage: Stage,
  shop: Shop,
  left: Left,
): Promise<string[]> {
  const { chain, plan, payments } = stage
  const stop = new AbortController()
  const running = shop.orders.run({ signal: stop.signal })
  const problems: string[] = []
  try {
    if (left.isLost) {
      await sleep(2000)
      if ((await countSent(stage, 'pending')) > 0)
        problems.push('sent again what may have been sent')
      await chain.warp(1000)
    } else
      for (const [index, payment] of payments.entries()) {
        const id = plan.orderIds[index]
        const order = left.orders.find((one) => one.id === id)
        if (order) await requestAgain(shop, plan, order, index, payment)
      }
    problems.push(...(await waitUntilSettled(stage, shop)))
  } finally {
    stop.abort()
    await running
  }
  return problems
}

/** Asks once more for what nobody can have noted. */
async function requestAgain(
  shop: Shop,
  { flow, cancellations }: Plan,
  { id: orderId, state, requested }: OrderRecord,
  index: number,
  payment: SignedPayment,
): Promise<void> {
  const { orders } = shop
  const isNoted = requested !== undefined || !/^(drafted|stored)$/.test(state)
  if (isNoted) return
  if (flow === 'accept') await acceptPayment(shop, orderId, payment)
  const cancellation = cancellations[index]
  if (cancellation) await orders.acceptCancellation({ orderId, cancellation })
  else if (flow !== 'cancel' && flow !== 'watch' && flow !== 'reconcile')
    await orders.capture({ orderId })
}

async function waitUntilSettled(
  { chain, plan }: Stage,
  { orders }: Shop,
): Promise<string[]> {
  let before = ''
  for (let looks = 0; ; looks++) {
    const found = await Promise.all(
      plan.orderIds.map((orderId) => orders.get({ orderId })),
    )
    if (found.every(isDone)) return []
    const now = found.map(
      ({ state, requested, reason, ...order }) =>
        `${state} ${requested} ${reason} ${finalityOf(order)}`,
    )
    if (now.join() !== before) looks = 0
    before = now.join()
    if (looks > mostLooks)
      return found.map(
        ({ state, requested, reason }) =>
          `was ${state} at last (requested ${requested}, reason ${reason})`,
      )
    await chain.clients.test.mine({ blocks: 1 })
    await sleep(50)
  }
}
