import type { OrdersContext } from '../context/types.js'
import { countSealKeys } from '../model/countSealKeys.js'
import { OrdersSetupError } from '../model/errors.js'

/**
 * Checks that the sealer has a key for every encrypted secret of these orders.
 * @throws {@link OrdersSetupError} when a key is missing. The error names it.
 */
export async function checkSealKeys({
  store,
  sealer,
  destinations,
  shop,
}: Pick<
  OrdersContext,
  'store' | 'sealer' | 'destinations' | 'shop'
>): Promise<void> {
  const counts = await store.read((tables) =>
    countSealKeys(tables, { destinations, shop }),
  )
  const missing = Object.keys(counts)
    .filter((name) => !sealer.keyNames.includes(name))
    .sort()
  if (missing.length === 0) return
  const names = missing.map((name) => JSON.stringify(name)).join(', ')
  const count = missing.reduce((sum, name) => sum + (counts[name] ?? 0), 0)
  throw new OrdersSetupError(
    `need the sealing keys ${names} to decrypt stored secrets: give them to sealer as keys, or name them as lost to abandon these secrets`,
    { missing, secrets: count },
  )
}
