import { writeAgain } from '../../store/writeAgain.js'
import type { OrdersContext } from '../model/types.js'
import { storeKey } from './openStore.js'

/** `resume` of `Orders`. */
export async function resumeOrders(context: OrdersContext): Promise<void> {
  await writeAgain(context, async (tables) => {
    const value = await tables.getValue(storeKey)
    if (value?.suspended === true)
      await tables.setValue(storeKey, { ...value, suspended: false })
  })
}
