import type { Destination, StoreReader } from '../../store/types.js'
import { writeAgain } from '../../store/writeAgain.js'
import { submitterKey } from '../account/submitterState.js'
import type { OrdersContext } from '../context/types.js'
import { storeKey } from '../model/storeState.js'

/**
 * Implements `resume` of `Orders`.
 *
 * A charge of a subscription has no payment nonce that keeps the chain from
 * running it twice. If the database may have lost a transaction, each submitter
 * of charges first uses up, with an empty transfer, every account nonce that a
 * lost transaction may have, so that it can no longer be mined.
 */
export async function resumeOrders(context: OrdersContext): Promise<void> {
  await writeAgain(context, async (tables) => {
    const value = await tables.getValue(storeKey)
    if (value?.suspended !== true) return
    const { suspendedBy, ...state } = value
    await tables.setValue(storeKey, { ...state, suspended: false })
    // The merchant suspended and no database was replaced, so no transaction
    // can have been lost.
    if (suspendedBy === 'merchant') return
    for (const key of await findCharging(context, tables)) {
      const known = await tables.getValue(key)
      await tables.setValue(key, { nextNonce: 0, ...known, fillTo: true })
    }
  })
}

/** Most subscriptions to read in one query. */
const pageSize = 1000

/** Finds the accounts that send the charges of subscriptions. */
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
    // Skip recipients whose submitter was found, so that one with many
    // subscriptions does not delay the others.
    listed = listed.filter((one) => !keys.has(keyOf(one)))
  }
  return keys
}
