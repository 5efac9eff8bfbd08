import { writeAgain } from '../../store/writeAgain.js'
import type { OrdersContext } from '../model/types.js'
import { storeKey } from './openStore.js'

/**
 * Allows captures again after a database was put in the place of another: by
 * then everything it missed has been reconciled, or nobody wants to wait.
 *
 * What was signed after the backup and before the loss is not in it, and is
 * never captured.
 */
export async function resumeOrders(context: OrdersContext): Promise<void> {
  await writeAgain(context, async (tables) => {
    const value = await tables.getValue(storeKey)
    if (value?.suspended === true)
      await tables.setValue(storeKey, { ...value, suspended: false })
  })
}
