import type { Address, Hash } from 'viem'
import { describeOrder } from '../../client/describeOrder.js'
import { findByTransaction } from '../../orders/engine.js'
import type { Order, OrderEvent } from '../../orders/index.js'
import type { ProofRecord, TransactionRecord } from '../../store/types.js'
import { UsageError } from '../terminal/errors.js'
import {
  formatFacts,
  formatMilliseconds,
  formatSeconds,
  formatToken,
} from '../terminal/formats.js'
import { type OpenedShop, withShop } from '../terminal/openShop.js'
import { shopOptions } from '../terminal/options.js'
import { createPrinter, type Printer } from '../terminal/print.js'
import type { Command } from '../terminal/types.js'

/** A stored transaction without its signed bytes, which must stay secret. */
type ShownTransaction = Pick<
  TransactionRecord,
  'hash' | 'account' | 'nonce' | 'bump' | 'kind' | 'inFlight' | 'recordedAt'
>

/** Everything that the database has about one order, without secrets. */
type InspectedOrder = {
  order: Omit<Order, 'metadata'>
  events: readonly OrderEvent[]
  transactions: readonly ShownTransaction[]
}

/** The orders and payments that match the argument. */
type Found = {
  orders: readonly InspectedOrder[]
  /** Payments on chain that belong to no order. */
  unmatched: readonly ProofRecord[]
}

/** Most orders of one payer to show. */
const mostOrders = 20

export const inspectCommand: Command = {
  name: 'inspect',
  summary: 'Shows what happened to an order, a transaction or a payer.',
  positionals: 'ORDER | TRANSACTION | PAYER',
  mostPositionals: 1,
  options: shopOptions,
  details: [
    'TRANSACTION is the hash of a capture, a cancellation or a refund. PAYER is an address; its newest 20 orders are shown.',
    'Shows the record, without asking a node. Leaves out the metadata of orders.',
  ],
  example: 'npx countersign inspect order-1',
  run: async (input) => {
    const [wanted] = input.positionals
    if (wanted === undefined)
      throw new UsageError(
        'Name what to inspect: an order id, a transaction hash, or the address of a payer.',
      )
    const print = createPrinter(input.io)
    const found = await withShop(input, (shop) => findAll(shop, wanted))
    const isFound = found.orders.length + found.unmatched.length > 0
    if (isFound) input.reveal(wanted)
    if (input.flag('json')) print.json(found)
    else printFound(print, found)
    return isFound ? 0 : 1
  },
}

async function findAll(shop: OpenedShop, wanted: string): Promise<Found> {
  if (/^0x[\da-f]{64}$/i.test(wanted))
    return findByHash(shop, wanted.toLowerCase() as Hash)
  const ids = /^0x[\da-f]{40}$/i.test(wanted)
    ? await findByPayer(shop, wanted.toLowerCase() as Address)
    : [wanted]
  return { orders: await inspectOrders(shop, ids), unmatched: [] }
}

async function findByPayer(
  { orders }: OpenedShop,
  payer: Address,
): Promise<string[]> {
  const page = await orders.list({ payer, limit: mostOrders })
  return page.orders.map(({ id }) => id).reverse()
}

async function findByHash(shop: OpenedShop, hash: Hash): Promise<Found> {
  const { store, destinations } = shop.context
  const { ids, unmatched } = await store.read((tables) =>
    findByTransaction(tables, destinations, hash),
  )
  return { orders: await inspectOrders(shop, ids), unmatched }
}

function inspectOrders(
  { orders, context }: OpenedShop,
  ids: readonly string[],
): Promise<InspectedOrder[]> {
  return Promise.all(
    ids.map(async (orderId) => {
      const { metadata: _, ...order } = await orders.get({ orderId })
      const { events } = await orders.events({ orderId, limit: 1_000 })
      const rows = await context.store.read(({ transactions }) =>
        transactions.find({ orderIds: [orderId] }),
      )
      return { order, events, transactions: rows.map(showTransaction) }
    }),
  )
}

/**
 * Returns the row without the signed bytes, which must stay secret even when
 * encrypted.
 */
function showTransaction(row: TransactionRecord): ShownTransaction {
  const { hash, account, nonce, bump, kind, inFlight, recordedAt } = row
  return { hash, account, nonce, bump, kind, inFlight, recordedAt }
}

function printFound(print: Printer, { orders, unmatched }: Found): void {
  for (const { order, events, transactions } of orders) {
    const { id, state, amount, token, chainId, payer, recipient } = order
    print.line(`order ${id}: ${state}`)
    print.line(
      `  ${amount} of ${formatToken(chainId, token)} on chain ${chainId}`,
    )
    print.line(`  payer ${payer ?? 'not known yet'}, recipient ${recipient}`)
    print.line(
      `  window ${formatSeconds(order.validAfter)} to ${formatSeconds(order.validBefore)}`,
    )
    const { detail, next } = describeOrder(order, { for: 'merchant' })
    print.line(`  ${detail}`)
    if (next) print.line(`  ${order.needsReview ? print.warn(next) : next}`)
    if (order.reason) print.line(`  ${print.warn(`reason: ${order.reason}`)}`)
    for (const event of events) print.line(`  ${describeStep(event)}`)
    for (const { hash, account, nonce, bump, kind, inFlight } of transactions)
      print.line(
        `  ${kind} ${hash ?? 'without a hash'}, account nonce ${nonce} of ${account}${bump > 0 ? `, replacement ${bump}` : ''}${inFlight ? ', in flight' : ''}`,
      )
    print.line()
  }
  for (const { transactionHash, payer, value, blockTime } of unmatched)
    print.line(
      `${formatSeconds(blockTime)}  payment without an order: ${value} token units of ${payer}, ${transactionHash}`,
    )
  if (orders.length + unmatched.length === 0) print.line('Nothing on record.')
}

function describeStep({ at, type, data }: OrderEvent): string {
  return [formatMilliseconds(at), type.padEnd(16), ...formatFacts(data)]
    .join('  ')
    .trimEnd()
}
