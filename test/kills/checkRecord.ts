import { setTimeout as sleep } from 'node:timers/promises'
import { getPaymentOutcome } from 'countersign'
import type { Destination, EventRecord, PaymentStore } from 'countersign/store'
import { type Address, erc20Abi } from 'viem'
import { readContract } from 'viem/actions'
import { contextOf } from '../../src/orders/contextOf.js'
import { watchKey } from '../../src/orders/watcher/watchKeys.js'
import { countSent } from './countSent.js'
import type { Shop } from './openShop.js'
import { acceptPayment, draftFor, type Stage, signDraft } from './stage.js'

/**
 * What is wrong with the record or the chain once every order is settled.
 *
 * @param isLost a wallet may have been asked, and was not.
 */
export async function checkRecord(
  stage: Stage,
  shop: Shop,
  isLost: boolean,
): Promise<string[]> {
  // A wallet that may have sent something leaves nothing but to wait.
  const requested = stage.plan.flow === 'cancel' ? 'canceled' : 'captured'
  const expected = isLost ? 'expired' : requested
  return [
    ...(await checkOutcomes(stage, shop, expected)),
    ...(await checkEvents(stage, shop, expected)),
    ...(await checkLeases(stage, shop)),
    ...(await checkNonces(stage)),
    ...(await checkQuiet(stage, shop)),
    ...(await checkNextCapture(stage, shop)),
  ]
}

/** The record equals the chain, and nobody paid twice or in vain. */
async function checkOutcomes(
  stage: Stage,
  { orders, client }: Shop,
  expected: string,
): Promise<string[]> {
  const { plan, payments, chain, recipient } = stage
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

/** Every end is told once, and so is what has to be fulfilled. */
async function checkEvents(
  stage: Stage,
  { store }: Shop,
  expected: string,
): Promise<string[]> {
  const { orderIds } = stage.plan
  const events = await store.read((tables) => tables.events.find({ orderIds }))
  const told = expected === 'captured' ? [expected, 'fulfil'] : [expected]
  return told.flatMap((wanted) =>
    orderIds.flatMap((id) => {
      const isSo = ({ orderId, type }: EventRecord) =>
        orderId === id && type === wanted
      const count = events.filter(isSo).length
      return count === 1 ? [] : [`told ${wanted} ${count} times`]
    }),
  )
}

/** What a worker that was told to stop held is free at once. */
async function checkLeases(
  { plan, recipient }: Stage,
  { orders, store }: Shop,
): Promise<string[]> {
  const address = recipient.address.toLowerCase()
  const keys = [
    `submitter:31337:${address}`,
    watchKey(contextOf(orders).context, { chainId: 31337 }),
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
  const destinations: Destination[] = [
    { chainId: 31337, token, recipient: address },
  ]
  const rows = await store.read(async (tables) => [
    await tables.orders.find(ids),
    await tables.attempts.find(orderIds),
    await tables.transactions.find(orderIds),
    await tables.proofs.find({ destinations, limit: 100 }),
    (await tables.events.find({ destinations, after: 0n, limit: 500 })).map(
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
