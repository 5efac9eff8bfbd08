import type { Destination, PaymentStore } from 'countersign/store'

/** Copies orders, and some refunds of theirs, into an empty store, as a backup does. */
export async function copyOrders(
  from: PaymentStore,
  to: PaymentStore,
  destinations: readonly Destination[],
  refundIds: readonly string[] = [],
): Promise<void> {
  const rows = await from.read(async (tables) => {
    const orders = await tables.orders.find({
      listed: destinations,
      limit: 1_000,
    })
    const refunds = await tables.orders.find({
      ids: orders.flatMap(({ id }) =>
        refundIds.map((refundId) => `${id}\t${refundId}`),
      ),
    })
    const all = [...orders, ...refunds]
    const orderIds = all.map(({ id }) => id)
    return {
      orders: all,
      attempts: await tables.attempts.find({ orderIds }),
      proofs: await tables.proofs.find({ orderIds }),
    }
  })
  await to.write(async (tables) => {
    await tables.orders.insert(rows.orders)
    await tables.attempts.insert(rows.attempts)
    await tables.proofs.insert(rows.proofs)
  })
}
