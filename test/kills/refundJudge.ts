import { setTimeout as sleep } from 'node:timers/promises'
import { eip3009, paymentTypedData } from 'countersign'
import type { Destination, PaymentStore } from 'countersign/store'
import { type Address, erc20Abi } from 'viem'
import { getTransactionCount, readContract } from 'viem/actions'
import { parsePayment } from '../../src/core/fields.js'
import { contextOf } from '../../src/orders/contextOf.js'
import { paymentOf } from '../../src/orders/model/paymentOf.js'
import { watchKey } from '../../src/orders/watcher/watchKeys.js'
import { findSecrets } from './findSecrets.js'
import { openShop, openStore, type Shop } from './openShop.js'
import { stepRefund } from './refundPlan.js'
import type { RefundStage } from './refundStage.js'

const kinds = new Map([[eip3009.name, eip3009]])

/** Looks without any change after which a refund counts as stuck. */
const mostLooks = 600

/**
 * Follows a process that died: works on until the refund is final, and returns
 * everything that is wrong with the record or the chain. Nothing must be.
 */
export async function judgeRefund(stage: RefundStage): Promise<string[]> {
  const isLost = await isSendingLost(stage)
  const shop = openShop(stage.plan)
  try {
    return [
      ...(await recover(stage, shop, isLost)),
      ...(await checkPaid(stage, shop)),
      ...(await checkEvents(stage, shop, isLost)),
      ...(await checkLeases(stage, shop)),
      ...(await checkNonces(stage, isLost ? 2 : 1)),
      ...(await checkQuiet(stage, shop)),
      ...(await checkSecrets(stage, shop)),
      ...(await checkNextRefund(stage, shop)),
    ]
  } finally {
    await shop.orders.close()
  }
}

const rowIdOf = ({ plan }: RefundStage): string =>
  `${plan.orderId}\t${plan.refundId}`

/** True if the wallet may have been asked to send, and was not. */
async function isSendingLost(stage: RefundStage): Promise<boolean> {
  const store = openStore(stage.plan.engine)
  const transactions = await store.read((tables) =>
    tables.transactions.find({ orderIds: [rowIdOf(stage)] }),
  )
  await store.close()
  const isUnknown = transactions.some(
    ({ hash, inFlight }) => inFlight && hash === undefined,
  )
  return isUnknown && (await countSent(stage, 'pending')) === 0
}

/** Transactions of the sender since the refund was requested. */
async function countSent(
  { chain, sender: { address }, sent }: RefundStage,
  blockTag: 'latest' | 'pending',
): Promise<number> {
  const client = chain.clients.public
  return (await getTransactionCount(client, { address, blockTag })) - sent
}

/** Works on, as the merchant's next process does. */
async function recover(
  stage: RefundStage,
  shop: Shop,
  isLost: boolean,
): Promise<string[]> {
  return whileWorking(shop, async () => {
    const problems: string[] = []
    if (isLost) {
      await sleep(2000)
      if ((await countSent(stage, 'pending')) > 0)
        problems.push('sent again what may have been sent')
      // Until the window of the refund is over.
      await stage.chain.warp(1000)
    }
    return [...problems, ...(await waitUntilFinal(stage, shop))]
  })
}

async function whileWorking<result>(
  { orders }: Shop,
  work: () => Promise<result>,
): Promise<result> {
  const stop = new AbortController()
  const running = orders.run({ signal: stop.signal })
  try {
    return await work()
  } finally {
    stop.abort()
    await running
  }
}

async function waitUntilFinal(
  { chain, plan }: RefundStage,
  shop: Shop,
): Promise<string[]> {
  let before = ''
  for (let looks = 0; ; looks++) {
    const refund = await stepRefund(shop, plan)
    if (refund?.transfer?.finality === 'finalized') return []
    const now = `${refund?.state} ${refund?.failure} ${refund?.transfer?.finality}`
    if (now !== before) looks = 0
    before = now
    if (looks > mostLooks) return [`the refund was ${now} at last`]
    await chain.clients.test.mine({ blocks: 1 })
    await sleep(50)
  }
}

/** The payer has the refund once, and the record says the same. */
async function checkPaid(
  stage: RefundStage,
  { orders }: Shop,
): Promise<string[]> {
  const { orderId, amount } = stage.plan
  const { refunds, refunded, refundable } = await orders.get({ orderId })
  const balance = await balanceOf(stage)
  const shown = refunds.map((one) => `${one.state} ${one.amount}`).join()
  return [
    ...(balance === 750_000n ? [] : [`the payer has ${balance}`]),
    ...(refunded === balance ? [] : [`the record says ${refunded}`]),
    ...(refundable === 500_000n ? [] : [`${refundable} is left`]),
    ...(shown === `succeeded ${amount}` ? [] : [`refunds: ${shown}`]),
  ]
}

function balanceOf({ chain, payer }: RefundStage): Promise<bigint> {
  return readContract(chain.clients.public, {
    address: chain.token,
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [payer.address],
  })
}

/** Every event about the refund is written once. */
async function checkEvents(
  { plan: { orderId } }: RefundStage,
  { store }: Shop,
  isLost: boolean,
): Promise<string[]> {
  const events = await store.read((tables) =>
    tables.events.find({ orderIds: [orderId] }),
  )
  const expected = {
    refundRequested: isLost ? 2 : 1,
    refundFailed: isLost ? 1 : 0,
    refunded: 1,
  }
  return Object.entries(expected).flatMap(([wanted, times]) => {
    const count = events.filter(({ type }) => type === wanted).length
    return count === times ? [] : [`${wanted} ${count} times, not ${times}`]
  })
}

/** A worker that stopped has released its leases at once. */
async function checkLeases(
  { sender }: RefundStage,
  { orders, store }: Shop,
): Promise<string[]> {
  const keys = [
    `submitter:31337:${sender.address.toLowerCase()}`,
    watchKey(contextOf(orders).context, { chainId: 31337 }),
  ]
  const problems: string[] = []
  for (const key of keys) {
    const lease = await store.takeLease({
      key,
      owner: 'judge',
      milliseconds: 1000,
    })
    if (lease) await store.releaseLease(lease)
    else problems.push(`nobody released ${key}`)
  }
  return problems
}

async function checkNonces(
  stage: RefundStage,
  most: number,
): Promise<string[]> {
  const pending = await countSent(stage, 'pending')
  const mined = await countSent(stage, 'latest')
  return [
    ...(pending === mined ? [] : [`a gap: ${pending} sent, ${mined} mined`]),
    ...(mined <= most ? [] : [`${mined} transactions for one refund`]),
  ]
}

/** Looking again, and again, finds nothing to change. */
async function checkQuiet(
  stage: RefundStage,
  { orders, store }: Shop,
): Promise<string[]> {
  const before = await takeSnapshot(stage, store)
  await orders.reconcile()
  await orders.reconcile()
  const { ok } = await orders.audit({ fromBlock: stage.firstBlock })
  const after = await takeSnapshot(stage, store)
  return [
    ...(ok ? [] : ['chain and record differ']),
    ...(before === after ? [] : [`changed by a look: ${before} to ${after}`]),
  ]
}

async function takeSnapshot(
  stage: RefundStage,
  store: PaymentStore,
): Promise<string> {
  const { token, orderId } = stage.plan
  const ids = [orderId, rowIdOf(stage)]
  const recipient = stage.recipient.address.toLowerCase() as Address
  const destinations: Destination[] = [{ chainId: 31337, token, recipient }]
  const rows = await store.read(async (tables) => [
    await tables.orders.find({ ids }),
    await tables.attempts.find({ orderIds: ids }),
    await tables.transactions.find({ orderIds: ids }),
    await tables.proofs.find({ destinations, limit: 100 }),
    (await tables.events.find({ destinations, after: 0n, limit: 500 })).map(
      ({ type, sequence }) => `${sequence} ${type}`,
    ),
  ])
  return JSON.stringify(rows, (_, value) =>
    typeof value === 'bigint' ? String(value) : value,
  )
}

/** The database holds no signature of the refund in the clear. */
async function checkSecrets(
  stage: RefundStage,
  { store }: Shop,
): Promise<string[]> {
  const id = rowIdOf(stage)
  const { row, attempts } = await store.read(async (tables) => ({
    row: (await tables.orders.find({ ids: [id] }))[0],
    attempts: await tables.attempts.find({ orderIds: [id] }),
  }))
  if (!row) return ['the refund is not on record']
  const payments = await Promise.all(
    attempts.map(async (attempt) => {
      const payment = parsePayment(paymentOf({ kinds }, row, attempt))
      const signature = await stage.recipient.signTypedData(
        paymentTypedData(payment),
      )
      return { signature }
    }),
  )
  return findSecrets({ plan: stage.plan, payments })
}

/** The next refund of the payment takes the next nonce, and pays the rest. */
async function checkNextRefund(
  stage: RefundStage,
  shop: Shop,
): Promise<string[]> {
  const { orderId } = stage.plan
  const before = await shop.orders.get({ orderId })
  const next = { ...stage.plan, refundId: 'two', amount: '0.5' }
  const problems = await whileWorking(shop, () =>
    waitUntilFinal({ ...stage, plan: next }, shop),
  )
  const after = await shop.orders.get({ orderId })
  const balance = await balanceOf(stage)
  const nonces = new Set(after.refunds.map(({ nonce }) => nonce))
  return [
    ...problems.map((problem) => `next: ${problem}`),
    ...(balance === 1_250_000n ? [] : [`next: the payer has ${balance}`]),
    ...(nonces.size === before.refunds.length + 1 ? [] : ['next: same nonce']),
  ]
}
