import { setTimeout as sleep } from 'node:timers/promises'
import { getPaymentOutcome, type SignedPayment } from 'countersign'
import type { OrderRecord, PaymentStore, Scope } from 'countersign/orders'
import { type Address, erc20Abi } from 'viem'
import { getTransactionCount, readContract } from 'viem/actions'
import { findSecrets } from './findSecrets.js'
import { isDone } from './isDone.js'
import { openShop, openStore, type Shop } from './openShop.js'
import type { Plan } from './plan.js'
import { acceptPayment, draftFor, type Stage, signDraft } from './stage.js'

/** Milliseconds an order has to be settled in after a process died. */
const patience = 15_000

/**
 * Follows a process that died: works on until every order is settled, and
 * tells what is wrong with the record or the chain. Nothing must be.
 */
export async function judge(stage: Stage): Promise<string[]> {
  const found = await inspect(stage)
  const shop = openShop(stage.plan)
  try {
    const problems = [
      ...found.problems,
      ...(await recover(stage, shop, found)),
      ...(await checkOutcomes(stage, shop, found)),
      ...(await checkLeases(stage, shop)),
      ...(await checkNonces(stage)),
      ...(await checkQuiet(stage, shop)),
      ...(await checkNextCapture(stage, shop)),
      ...findSecrets(stage),
    ]
    return problems
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
        !transactions.some(
          (sent) => sent.orderId === id && sent.attempt === attempt,
        ),
    )
    .map(({ state }) => `left an order ${state} without a transaction`)
  const isUnknown = transactions.some(
    ({ hash, open }) => open && hash === undefined,
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
        if (order) await wishAgain(shop, plan, order, index, payment)
      }
    problems.push(...(await waitUntilSettled(stage, shop)))
  } finally {
    stop.abort()
    await running
  }
  return problems
}

/** Asks once more for what nobody can have noted. */
async function wishAgain(
  shop: Shop,
  { flow, cancellations }: Plan,
  { id: orderId, state, wish }: OrderRecord,
  index: number,
  payment: SignedPayment,
): Promise<void> {
  const { orders } = shop
  const isNoted = wish !== undefined || !/^(drafted|stored)$/.test(state)
  if (isNoted) return
  if (flow === 'accept') await acceptPayment(shop, orderId, payment)
  const cancellation = cancellations[index]
  if (cancellation) await orders.cancel({ orderId, cancellation })
  else if (flow === 'accept' || flow === 'capture')
    await orders.capture({ orderId })
}

async function waitUntilSettled(
  { chain, plan }: Stage,
  { orders }: Shop,
): Promise<string[]> {
  const until = Date.now() + patience
  for (;;) {
    const found = await Promise.all(
      plan.orderIds.map((orderId) => orders.get({ orderId })),
    )
    if (found.every(isDone)) return []
    if (Date.now() > until)
      return found.map(
        ({ state, wish, reason }) =>
          `was ${state} at last (wish ${wish}, reason ${reason})`,
      )
    await chain.clients.test.mine({ blocks: 1 })
    await sleep(50)
  }
}

/** The record equals the chain, and nobody paid twice or in vain. */
async function checkOutcomes(
  stage: Stage,
  { orders, client }: Shop,
  { isLost }: Left,
): Promise<string[]> {
  const { plan, payments, chain, recipient } = stage
  const wished = plan.flow === 'cancel' ? 'canceled' : 'captured'
  // A wallet that may have sent something leaves nothing but to wait.
  const expected = isLost ? 'expired' : wished
  const problems: string[] = []
  let paid = 0n
  for (const [index, payment] of payments.entries()) {
    const order = await orders.get({ orderId: plan.orderIds[index] ?? '' })
    const outcome = await getPaymentOutcome(client, { payment })
    if (outcome.status !== order.state)
      problems.push(`record ${order.state}, chain ${outcome.status}`)
    if (outcome.status === 'captured') paid += payment.message.value
    if (order.state !== expected)
      problems.push(`ended ${order.state}, not ${expected}: ${order.reason}`)
  }
  const balance = await readContract(chain.clients.public, {
    address: plan.token,
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [recipient.address],
  })
  if (balance !== paid) problems.push(`was paid ${balance}, not ${paid}`)
  return problems
}

/** What a worker that was told to stop held is free at once. */
async function checkLeases(
  { plan, recipient }: Stage,
  { store }: Shop,
): Promise<string[]> {
  const address = recipient.address.toLowerCase()
  const keys = [
    `lane:31337:${address}`,
    `watch:31337:${plan.token.toLowerCase()}:${address}`,
    ...plan.orderIds.map((id) => `accept:${id}`),
  ]
  const problems: string[] = []
  for (const key of keys)
    if (!(await canTake(store, key))) problems.push(`nobody let go of ${key}`)
  return problems
}

/** What a dead process held, and nobody needed, may have to run out. */
async function canTake(store: PaymentStore, key: string): Promise<boolean> {
  const wanted = { key, owner: 'judge', milliseconds: 1000 }
  for (const until = Date.now() + 1000; ; await sleep(50)) {
    const lease = await store.takeLease(wanted)
    if (lease) await store.releaseLease(lease)
    if (lease || Date.now() > until) return lease !== undefined
  }
}

async function checkNonces(stage: Stage): Promise<string[]> {
  const pending = await countSent(stage, 'pending')
  const mined = await countSent(stage, 'latest')
  const most = stage.plan.orderIds.length - stage.foreign
  return [
    ...(pending === mined ? [] : [`a gap: ${pending} sent, ${mined} mined`]),
    ...(mined <= most ? [] : [`${mined} transactions for ${most}`]),
  ]
}

function countSent(
  { chain, recipient: { address } }: Stage,
  blockTag: 'latest' | 'pending',
): Promise<number> {
  return getTransactionCount(chain.clients.public, { address, blockTag })
}

/** Looking again, and again, finds nothing to change. */
async function checkQuiet(
  stage: Stage,
  { orders, store }: Shop,
): Promise<string[]> {
  const before = await takeSnapshot(stage, store)
  await orders.reconcile()
  await orders.reconcile()
  const { ok } = await orders.audit({ fromBlock: 0n })
  const after = await takeSnapshot(stage, store)
  return [
    ...(ok ? [] : ['chain and record differ']),
    ...(before === after ? [] : [`changed by a look: ${before} to ${after}`]),
  ]
}

async function takeSnapshot(
  { plan, recipient }: Stage,
  store: PaymentStore,
): Promise<string> {
  const ids = { ids: plan.orderIds }
  const orderIds = { orderIds: plan.orderIds }
  const address = recipient.address.toLowerCase() as Address
  const { token } = plan
  const scopes: Scope[] = [{ chainId: 31337, token, recipient: address }]
  const rows = await store.read(async (tables) => [
    await tables.orders.find(ids),
    await tables.attempts.find(orderIds),
    await tables.transactions.find(orderIds),
    await tables.proofs.find({ scopes, limit: 100 }),
    (await tables.events.find({ scopes, after: 0n, limit: 500 })).map(
      ({ type, sequence }) => `${sequence} ${type}`,
    ),
  ])
  return JSON.stringify(rows, (_, value) =>
    typeof value === 'bigint' ? String(value) : value,
  )
}

/** The account goes on with its next nonce. */
async function checkNextCapture(
  { payer }: Stage,
  shop: Shop,
): Promise<string[]> {
  const drafted = await draftFor(shop, payer, 'capture')
  const orderId = drafted.order.id
  await acceptPayment(shop, orderId, await signDraft(payer, drafted))
  const result = await shop.orders.capture({ orderId })
  return result.status === 'captured'
    ? []
    : [`the next capture was ${result.status}`]
}
