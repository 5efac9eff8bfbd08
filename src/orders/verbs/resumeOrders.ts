import { writeAgain } from '../../store/writeAgain.js'
import { storeKey } from '../model/storeState.js'
import type { OrdersContext } from '../model/types.js'
import { submitterKey } from '../submitter/submitterState.js'

/**
 * Implements `resume` of `Orders`. Charges of subscriptions have no nonce on
 * chain, so their submitters first fill each account nonce that a lost database
 * may have used.
 */
export async function resumeOrders(context: OrdersContext): Promise<void> {
  await writeAgain(context, async (tables) => {
    const value = await tables.getValue(storeKey)
    if (value?.suspended !== true) return
    const { suspendedBy, ...state } = value
    await tables.setValue(storeKey, { ...state, suspended: false })
    // Nothing was lost, so no account nonce is in doubt.
    if (suspendedBy === 'merchant') return
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
