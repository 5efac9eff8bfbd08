import { writeAgain } from '../../store/writeAgain.js'
import type { OrdersContext } from '../model/types.js'
import { submitterKey } from '../submitter/submitterState.js'
import { storeKey } from './openStore.js'

/**
 * `resume` of `Orders`. The charges of subscriptions have no nonce on the chain,
 * so their submitters first fill each account nonce that may have been signed.
 */
export async function resumeOrders(context: OrdersContext): Promise<void> {
  await writeAgain(context, async (tables) => {
    const value = await tables.getValue(storeKey)
    if (value?.suspended !== true) return
    await tables.setValue(storeKey, { ...value, suspended: false })
    for (const destination of context.destinations) {
      const { chainId, recipient: account } = destination
      const query = { listed: [destination], limit: 1 }
      const subscribed = await tables.subscriptions.find(query)
      if (subscribed.length === 0) continue
      const key = submitterKey({ chainId, account })
      const known = await tables.getValue(key)
      await tables.setValue(key, { nextNonce: 0, ...known, fillTo: true })
    }
  })
}
