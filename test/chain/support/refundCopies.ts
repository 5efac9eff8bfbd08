import type { Destination, PaymentStore } from 'countersign/store'

/** Copies the orders of a store into an empty one, as a backup does. */
export async function copyOrders(
  from: PaymentStore,
  to: PaymentStore,
  destinations: readonly Destination[],
): Promise<void> {
  const rows = await from.read(async (tables) => {
    const orders = await tables.orders.find({
      listed: destinations,
      limit: 1_000,
    })
    const orderIds = orders.map(({ id }) => id)
    return {
      orders,
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
