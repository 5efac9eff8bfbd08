import { indexDestinations } from './isInDestinations.js'
import type { Rows } from './memoryRows.js'
import { ordersOf } from './movements.js'
import { sealKeyOf } from './sealKeyOf.js'
import type {
  AttemptRecord,
  ChannelRecord,
  Destination,
  OrderRecord,
  SecretQuery,
  StoreReader,
  TransactionRecord,
} from './types.js'

type Tables = {
  orders: Rows<OrderRecord>
  attempts: Rows<AttemptRecord>
  transactions: Rows<TransactionRecord>
  channels: Rows<ChannelRecord>
}

/** Implements `StoreReader.secrets` for the tables in memory. */
export function secretsReader(tables: Tables): StoreReader['secrets'] {
  return {
    countKeys: async (destinations) => countKeys(tables, destinations),
    findOrderIds: async (query) => findOrderIds(tables, query),
  }
}

function countKeys(
  tables: Tables,
  destinations: readonly Destination[],
): Record<string, number> {
  const counts = new Map<string, number>()
  const { has } = indexDestinations(destinations)
  const add = (key: string) => counts.set(key, (counts.get(key) ?? 0) + 1)
  for (const { key, order } of listSecrets(tables)) if (has(order)) add(key)
  for (const { voucher, ...channel } of tables.channels.all())
    if (voucher !== undefined && has(channel)) add(sealKeyOf(voucher))
  return Object.fromEntries(counts)
}

function findOrderIds(
  tables: Tables,
  { destinations, except, after, limit }: SecretQuery,
): string[] {
  const { has } = indexDestinations(destinations)
  const found = listSecrets(tables)
    .filter(({ key }) => key !== except)
    .filter(({ order }) => has(order))
    .map(({ order }) => order.id)
    .filter((id) => after === undefined || id > after)
  return [...new Set(found)].sort().slice(0, limit)
}

function listSecrets({
  orders,
  attempts,
  transactions,
}: Tables): { key: string; order: OrderRecord }[] {
  const secrets = [
    ...attempts.all().flatMap(({ orderId, signature, cancellation }) => [
      { orderId, sealed: signature },
      { orderId, sealed: cancellation },
    ]),
    ...transactions
      .all()
      .flatMap((row) =>
        ordersOf([row]).map((orderId) => ({ orderId, sealed: row.raw })),
      ),
  ]
  return secrets.flatMap(({ orderId, sealed }) => {
    const order = orders.get(orderId)
    return order && sealed !== undefined
      ? [{ key: sealKeyOf(sealed), order }]
      : []
  })
}
