import type { Destination, StoreReader } from '../../store/types.js'
import { writeAgain } from '../../store/writeAgain.js'
import { storeKey } from '../model/storeState.js'
import type { OrdersContext } from '../model/types.js'
import { submitterKey } from '../submitter/submitterState.js'

/**
 * Implements `resume` of `Orders`. No nonce on chain keeps a charge of a
 * subscription from being sent twice. So if the database may have lost
 * transactions, submitters of charges first use up, with empty transfers, each
 * account nonce that these may still use.
 */
export async function resumeOrders(context: OrdersContext): Promise<void> {
  await writeAgain(context, async (tables) => {
    const value = await tables.getValue(storeKey)
    if (value?.suspended !== true) return
    const { suspendedBy, ...state } = value
    await tables.setValue(storeKey, { ...state, suspended: false })
    // The merchant suspended, and nothing was lost: no account nonce is in
    // doubt.
    if (suspendedBy === 'merchant') return
    for (const key of await findCharging(context, tables)) {
      const known = await tables.getValue(key)
      await tables.setValue(key, { nextNonce: 0, ...known, fillTo: true })
    }
  })
}

/** Most subscriptions to read at once. */
const pageSize = 1000

/** Finds the keys of submitters that charge subscriptions. */
async function findCharging(
  { destinations }: Pick<OrdersContext, 'destinations'>,
  { subscriptions }: Pick<StoreReader, 'subscriptions'>,
): Promise<ReadonlySet<string>> {
  const keys = new Set<string>()
  const keyOf = ({ chainId, recipient }: Destination) =>
    submitterKey({ chainId, account: recipient })
  let listed: readonly Destination[] = destinations
  while (listed.length > 0) {
    const found = await subscriptions.find({ listed, limit: pageSize })
    for (const one of found) keys.add(keyOf(one))
    if (found.length < pageSize) break
    // Leave out recipients already found, so that one with many subscriptions
    // does not delay the others.
    listed = listed.filter((one) => !keys.has(keyOf(one)))
  }
  return keys
}
