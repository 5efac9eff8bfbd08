import { setTimeout } from 'node:timers/promises'
import {
  cancelPayment,
  capturePayment,
  getPaymentOutcome,
  type SignedPayment,
} from 'countersign'
import { startDevChain } from 'countersign/devchain'
import type { OrderEvent } from 'countersign/orders'
import { sqliteStore } from 'countersign/sql'
import type { OrderState } from 'countersign/store'
import type { Account } from 'viem'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import {
  isFull,
  seed,
  sqliteFile,
  startChance,
} from '../../chain/support/chaos.js'
import { fundedAccount, revoke } from '../../chain/support/desk.js'
import { putMulticall } from '../../chain/support/multicall3.js'
import {
  openShop,
  pay,
  type Shop,
  storedOrder,
} from '../../chain/support/shop.js'

const count = isFull ? 1_000 : 100
const timeout = isFull ? 600_000 : 120_000
/** Orders that race at the same time. */
const together = 100

const chain = await startDevChain({ blockTime: 1, epochBlocks: 16 })
// Transfer payments that are due together share transactions.
await putMulticall(chain)
const { public: reader, relayer } = chain.clients
afterAll(() => chain.stop())

const policy = {
  deadlineNear: 2n,
  safetyMargin: 1n,
  pollingInterval: 150,
  relayCancellations: 'always',
} as const

/** Two instances over one database, both at work until the test ends. */
async function openShops(): Promise<[Shop, Shop]> {
  const { file, store } = sqliteFile()
  const sellers = [await fundedAccount(chain)]
  const other = sqliteStore({ file })
  const shops: [Shop, Shop] = [
    await openShop(chain, { store, sellers, policy }),
    await openShop(chain, { store: other, sellers, policy }),
  ]
  const ends = new AbortController()
  const runs = shops.map(({ orders }) => orders.run({ signal: ends.signal }))
  onTestFinished(async () => {
    ends.abort()
    await Promise.all(runs)
    await Promise.all(shops.map(({ orders }) => orders.close()))
  })
  return shops
}

/** The relayer sends one after the other, so that none takes a nonce twice. */
let lastSent: Promise<unknown> = Promise.resolve()
const inTurn = (send: () => Promise<unknown>) => {
  lastSent = lastSent.then(send).catch(() => undefined)
  return lastSent
}

type Raced = {
  id: string
  payment: SignedPayment
  /** The shop said that nothing is submitted any more. */
  isVoided: boolean
}

type Buyers = readonly Awaited<ReturnType<typeof fundedAccount>>[]

/** Sells something, and lets all who have a say act at any time. */
async function race(
  shops: readonly [Shop, Shop],
  buyers: Buyers,
  random: () => number,
): Promise<Raced> {
  // All is drawn first: what the chain does must not shift it.
  const pick = <item>(list: readonly item[]) =>
    list[Math.floor(random() * list.length)] as item
  const window = 5 + Math.floor(random() * 5)
  const buyer = pick(buyers)
  const primaryType = pick([
    'ReceiveWithAuthorization',
    'TransferWithAuthorization',
  ] as const)
  const start = random() * 3_000
  const acts = Array.from({ length: 1 + Math.floor(random() * 4) }, () => ({
    verb: pick(['capture', 'void', 'cancel', 'cancelByBuyer', 'submit']),
    at: random() * window * 1_000,
    orders: pick(shops).orders,
  }))
  await setTimeout(start)
  const [{ orders: first }] = shops
  const drafted = await first.draft({
    amount: '1',
    window: BigInt(window),
    primaryType,
  })
  const orderId = drafted.order.id
  const payment = await pay(buyer, drafted.payment)
  const cancellation = await revoke(chain, payment, buyer)
  const raced = { id: orderId, payment, isVoided: false }
  // On a loaded machine it can come too late: of a draft nobody is the payer.
  const accepted = await first.accept({ orderId, payment })
  if (!accepted.ok) return raced
  await Promise.all(
    acts.map(async ({ verb, at, orders }) => {
      await setTimeout(at)
      if (verb === 'capture') await orders.capture({ orderId, timeout: 15_000 })
      if (verb === 'cancel')
        await orders.acceptCancellation({ orderId, cancellation })
      if (verb === 'void' && (await orders.void({ orderId })).ok)
        raced.isVoided = true
      if (verb === 'cancelByBuyer')
        await inTurn(() => cancelPayment(relayer, { cancellation }))
      if (verb === 'submit')
        await inTurn(() => capturePayment(relayer, { payment }))
    }),
  )
  return raced
}

const open: readonly OrderState[] = [
  'drafted',
  'stored',
  'capturing',
  'canceling',
]

async function statesOf({ store }: Shop, raced: readonly Raced[]) {
  const orderIds = raced.map(({ id }) => id)
  return store.read(async ({ orders, transactions }) => {
    const rows = await orders.find({ ids: orderIds })
    const byId = new Map(rows.map((row) => [row.id, row]))
    const sent = await transactions.find({ orderIds })
    return {
      rows: orderIds.flatMap((id) => byId.get(id) ?? []),
      isOver:
        rows.every(({ state }) => !open.includes(state)) &&
        // What was voided may still have a cancellation to be sent.
        rows.every(({ requested }) => requested !== 'cancel') &&
        sent.every((row) => !row.inFlight),
    }
  })
}

/** What an order has to say when this is what the chain shows. */
const states: Readonly<Record<string, readonly OrderState[]>> = {
  captured: ['captured'],
  canceled: ['canceled'],
  expired: ['expired', 'voided'],
}

async function openNonces({ address }: Account): Promise<number> {
  const [latest, pending] = await Promise.all(
    (['latest', 'pending'] as const).map((blockTag) =>
      reader.getTransactionCount({ address, blockTag }),
    ),
  )
  return (pending ?? 0) - (latest ?? 0)
}

async function eventsById({ orders }: Shop) {
  const byId = new Map<string | undefined, OrderEvent[]>()
  for (let after = 0n; ; ) {
    const { events, cursor } = await orders.events({ after, limit: 1_000 })
    if (events.length === 0) return byId
    for (const event of events)
      byId.set(event.orderId, [...(byId.get(event.orderId) ?? []), event])
    after = cursor
  }
}

test(`of ${count} orders that are captured, voided, canceled and expire at once the record is what the chain shows [seed ${seed}]`, {
  timeout,
}, async () => {
  const random = startChance(2)
  const shops = await openShops()
  const [shop] = shops
  const buyers = await Promise.all(
    [1, 2, 3, 4, 5].map(() => fundedAccount(chain, 1_000_000_000n)),
  )
  const raced: Raced[] = []
  while (raced.length < count) {
    const some = Array.from({ length: together }, () =>
      race(shops, buyers, random),
    )
    raced.push(...(await Promise.all(some)))
  }
  // Of windows this short a loaded machine may see the end before a capture.
  const calm = await storedOrder(chain, shop, { window: 600n })
  const payment = calm.signed
  raced.push({ id: calm.id, payment, isVoided: false })
  const { status } = await shop.orders.capture({ orderId: calm.id })
  expect(status).toBe('captured')
  await expect
    .poll(async () => (await statesOf(shop, raced)).isOver, {
      timeout: 30_000,
      interval: 500,
    })
    .toBe(true)
  // What the relayer sent last is in a block too.
  await expect
    .poll(() => openNonces(relayer.account), { timeout: 60_000 })
    .toBe(0)
  await shop.orders.reconcile()

  const { rows } = await statesOf(shop, raced)
  const events = await eventsById(shop)
  const wrong: unknown[] = []
  for (const [at, { id, payment, isVoided }] of raced.entries()) {
    const row = rows[at]
    const outcome = await getPaymentOutcome(reader, { payment })
    const types = (events.get(id) ?? []).map(({ type }) => type)
    const proof = outcome.status === 'captured' ? outcome.proof : undefined
    const agrees =
      row !== undefined &&
      states[outcome.status]?.includes(row.state) &&
      (!proof || row.settledHash === proof.transactionHash)
    // Nothing of ours goes out once an order is given up.
    const isOurs = proof?.submitter === shop.seller
    const given = types.indexOf('voided')
    const isKept =
      !(isVoided && isOurs) &&
      (given === -1 || !types.includes('capturing', given))
    const isUnexpected = types.includes('refundDue')
    if (!agrees || !isKept || row.unexpected !== isUnexpected)
      wrong.push({ id, outcome, state: row?.state, types, isVoided })
  }
  expect(wrong).toEqual([])
  expect(new Set(rows.map(({ state }) => state))).toEqual(
    new Set(['captured', 'canceled', 'expired', 'voided']),
  )
  expect((await shop.orders.audit()).ok).toBe(true)
})
