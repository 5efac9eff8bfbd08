import { sealer } from 'countersign/store'
import type { OrdersContext } from '../../../src/orders/context/types.js'
import { sealContextOf } from '../../../src/orders/model/paymentOf.js'
import { sealOf } from '../../../src/orders/sending/signDrafts.js'
import type {
  AttemptRecord,
  OrderRecord,
  PaymentStore,
  Sealer,
  TransactionRecord,
} from '../../../src/store/types.js'
import {
  drawId,
  sampleAttempt,
  sampleOrder,
  sampleTransaction,
} from '../../storeCases/samples.js'
import { contextOver } from '../../unit/support/contextOver.js'

const keyOf = (letter: number) => new Uint8Array(32).fill(letter)

/** Keys by name, as every process has them. */
export const keys = { one: keyOf(1), two: keyOf(2) }

/** Orders over a store that asks no chain. */
export function sealedContext(
  store: PaymentStore,
  seal: Sealer = sealer({ keys, current: 'two' }),
): OrdersContext {
  return { ...contextOver(store), sealer: seal }
}

/** Some secrets an order has, and what each says. */
const signature = `0x${'5a'.repeat(65)}`
const cancellation = `0x${'c0'.repeat(65)}`
const raw = `0x02${'f8'.repeat(431)}`

/**
 * Writes orders that another key sealed: each has a signature, each second a
 * cancellation, each third a transaction. Returns how many secrets there are.
 */
export async function insertSealed(
  store: PaymentStore,
  count: number,
  seal: Sealer = sealer({ keys, current: 'one' }),
): Promise<{ ids: string[]; secrets: number }> {
  const { destinations, wallets } = contextOver(store)
  const [destination, wallet] = [destinations[0], wallets[0]]
  if (!destination || !wallet) throw new Error('No destination.')
  const orders = Array.from({ length: count }, () =>
    sampleOrder(destination, {
      state: 'stored',
      payer: `0x${'77'.repeat(20)}`,
    }),
  )
  let secrets = 0
  const sealed = async (
    secret: string,
    place: Parameters<Sealer['seal']>[1],
  ) => {
    secrets++
    return seal.seal(secret, place)
  }
  const attempts: Omit<AttemptRecord, 'version'>[] = []
  const transactions: Omit<TransactionRecord, 'version'>[] = []
  for (const [at, order] of orders.entries()) {
    const row = { ...order, version: 1, position: 1n }
    const attempt = sampleAttempt(order)
    const place = (kind: 'payment' | 'cancellation') =>
      sealContextOf(kind, row, { ...attempt, version: 1 })
    attempts.push({
      ...attempt,
      signature: await sealed(signature, place('payment')),
      cancellation:
        at % 2 === 0
          ? await sealed(cancellation, place('cancellation'))
          : undefined,
    })
    if (at % 3 > 0) continue
    const sent = sampleTransaction(wallet.submitter, {
      nonce: Number.parseInt(drawId().slice(0, 8), 16),
      movements: [{ orderId: order.id, attempt: 1 }],
      hash: `0x${drawId()}${drawId()}`,
    })
    transactions.push({
      ...sent,
      raw: await sealed(raw, sealOf(sent)),
    })
  }
  await store.open()
  await store.write(async (tables) => {
    await tables.orders.insert(orders)
    await tables.attempts.insert(attempts)
    await tables.transactions.insert(transactions)
  })
  return { ids: orders.map(({ id }) => id), secrets }
}

/** What every secret of the orders says, by a sealer that has all keys. */
export async function openAll(
  store: PaymentStore,
  ids: readonly string[],
): Promise<(string | undefined)[]> {
  const { sealer } = sealedContext(store)
  const { orders, attempts, transactions } = await readRows(store, ids)
  const byId = new Map(orders.map((order) => [order.id, order]))
  const opened: (string | undefined)[] = []
  const open = async (
    sealed: string | undefined,
    place: Parameters<Sealer['open']>[1],
  ) => {
    if (sealed !== undefined) opened.push(await sealer.open(sealed, place))
  }
  for (const attempt of attempts) {
    const order = orderOf(byId, attempt.orderId)
    await open(attempt.signature, sealContextOf('payment', order, attempt))
    await open(
      attempt.cancellation,
      sealContextOf('cancellation', order, attempt),
    )
  }
  for (const row of transactions) await open(row.raw, sealOf(row))
  return opened
}

/** What the secrets of so many orders say. */
export const secretsOf = (count: number): string[] => [
  ...Array.from({ length: count }, () => signature),
  ...Array.from({ length: Math.ceil(count / 2) }, () => cancellation),
  ...Array.from({ length: Math.ceil(count / 3) }, () => raw),
]

export function readRows(store: PaymentStore, ids: readonly string[]) {
  return store.read(async (tables) => ({
    orders: await tables.orders.find({ ids }),
    attempts: await tables.attempts.find({ orderIds: ids }),
    transactions: await tables.transactions.find({ orderIds: ids }),
  }))
}

function orderOf(
  byId: ReadonlyMap<string, OrderRecord>,
  id: string | undefined,
): OrderRecord {
  const order = byId.get(id ?? '')
  if (!order) throw new Error(`No order ${id}.`)
  return order
}
