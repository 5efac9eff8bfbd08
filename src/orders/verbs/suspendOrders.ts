import { writeAgain } from '../../store/writeAgain.js'
import type { OrdersContext } from '../context/types.js'
import { storeKey } from '../model/storeState.js'

/**
 * Implements `suspend` of `Orders`. Stores that the merchant suspended, and not
 * the replacement of the database: no transaction can be lost, so `resume` need
 * not use up any account nonces.
 */
export async function suspendOrders(context: OrdersContext): Promise<void> {
  const { identity } = await context.store.open()
  await writeAgain(context, async (tables) => {
    const value = await tables.getValue(storeKey)
    if (value?.suspended === true) return
    await tables.setValue(storeKey, {
      identity,
      ...value,
      suspended: true,
      suspendedBy: 'merchant',
    })
  })
}
