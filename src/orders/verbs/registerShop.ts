import { isInDestinations } from '../../store/isInDestinations.js'
import type {
  Destination,
  RecipientRecord,
  StoreReader,
  StoreWriter,
} from '../../store/types.js'
import { writeAgain } from '../../store/writeAgain.js'
import type { OrdersContext } from '../context/types.js'
import { OrdersSetupError } from '../model/errors.js'
import {
  parseShopValue,
  type ShopValue,
  shopKey,
  shopPrefix,
} from '../model/openShop.js'
import type { Shop } from '../model/types.js'

/** Name of the lock that every change of recipients takes, in all shops. */
export const shopsLock = 'shops'

/**
 * Checks that no other shop has the recipients of the configuration. Returns
 * true when the store already has the recipients and settings that the
 * configuration gives to its own shop.
 *
 * An account of `wallets` that is a recipient of another shop is no error: it
 * sends for this shop, but is not paid here.
 *
 * @throws {@link OrdersSetupError} when one of `recipients` belongs to another
 * shop.
 */
export async function isRegistered(
  context: OrdersContext,
  tables: StoreReader,
): Promise<boolean> {
  const { shop } = context
  // If neither this shop nor any other in the store has a name, nothing can
  // conflict.
  const shops = await tables.findValues(shopPrefix)
  if (shop.name === undefined && shops.length === 0) return true
  const { others, missing } = await compareRows(context, tables)
  if (others.length > 0) shop.leaveOut(others)
  if (shop.name === undefined) return true
  const value = parseShopValue(await tables.getValue(shopKey(shop.name)))
  return missing.length === 0 && planValue(shop, value) === undefined
}

/**
 * Stores the shop's recipients, `fulfilAt` and kinds of payments, as far as the
 * configuration names them.
 * @throws {@link OrdersSetupError} as {@link isRegistered} does.
 */
export async function registerShop(context: OrdersContext): Promise<void> {
  const { name } = context.shop
  if (name === undefined) return
  await writeAgain(context, async (tables) => {
    await tables.lock(shopsLock)
    const { missing, abandoned } = await compareRows(context, tables)
    const value = parseShopValue(await tables.getValue(shopKey(name)))
    const planned = planValue(context.shop, value)
    if (missing.length === 0 && planned === undefined) return
    const fresh = missing.filter((one) => !isInDestinations(one, abandoned))
    if (fresh.length > 0)
      await tables.recipients.insert(
        fresh.map((one) => ({ ...one, shop: name, removed: false })),
      )
    await moveAbandoned(tables, abandoned, name)
    const changes = value.changes + 1
    await tables.setValue(shopKey(name), { ...(planned ?? value), changes })
  })
}

/**
 * Moves recipients to the shop `name`, if their former shop removed them and
 * they never had an order.
 */
export async function moveAbandoned(
  tables: StoreWriter,
  abandoned: readonly RecipientRecord[],
  name: string,
): Promise<void> {
  if (abandoned.length === 0) return
  await tables.recipients.update(
    abandoned.map((row) => ({ ...row, shop: name, removed: false })),
  )
  // Mark the former shops as changed, so that their processes stop serving
  // these recipients.
  for (const shop of new Set(abandoned.map((row) => row.shop))) {
    const value = parseShopValue(await tables.getValue(shopKey(shop)))
    const changes = value.changes + 1
    await tables.setValue(shopKey(shop), { ...value, changes })
  }
}

type Tables = Pick<StoreReader, 'recipients'> & {
  orders: Pick<StoreReader['orders'], 'find'>
}

/**
 * Compares the recipients of the configuration with the stored ones of all
 * shops.
 */
async function compareRows(
  context: OrdersContext,
  tables: Tables,
): Promise<{
  /** Recipients of the configuration that belong to other shops. */
  others: RecipientRecord[]
  /** Recipients that other shops removed, and that never had an order. */
  abandoned: RecipientRecord[]
  /** Recipients of the configuration that the store lacks. */
  missing: Destination[]
}> {
  const { configured, name } = context.shop
  const { destinations, recipients } = configured
  const rows = await tables.recipients.find({ destinations })
  const { others, abandoned } = await sortOthers(tables, name, rows)
  const other = others.find(({ recipient }) => recipients.includes(recipient))
  if (other) throw belongsElsewhere(other, name)
  const taken = Object.freeze([
    ...others,
    ...rows.filter((row) => row.shop === name),
  ])
  const missing = destinations.filter((one) => !isInDestinations(one, taken))
  return { others, abandoned, missing }
}

/**
 * Finds recipients that belong to other shops, and among them the `abandoned`
 * ones, which may move to this shop.
 */
export async function sortOthers(
  tables: Tables,
  name: string | undefined,
  rows: readonly RecipientRecord[],
): Promise<Record<'others' | 'abandoned', RecipientRecord[]>> {
  const others: RecipientRecord[] = []
  const abandoned: RecipientRecord[] = []
  for (const row of rows) {
    if (row.shop === name) continue
    const isFree = row.removed && !(await hasOrders(tables, row))
    const list = isFree ? abandoned : others
    list.push(row)
  }
  return { others, abandoned }
}

async function hasOrders(
  { orders }: Tables,
  { chainId, token, recipient }: RecipientRecord,
): Promise<boolean> {
  const oldest = { chainId, token, recipient }
  return (await orders.find({ oldest, limit: 1 })).length > 0
}

export function belongsElsewhere(
  { chainId, token, recipient, shop }: RecipientRecord,
  name: string | undefined,
): OrdersSetupError {
  const here = name === undefined ? 'orders without a shop' : `shop "${name}"`
  return new OrdersSetupError(
    `cannot take payments to ${recipient} on chain ${chainId} for ${here}: it belongs to shop "${shop}". Use another account, pass shop: '${shop}', or give each shop a database schema`,
    { chainId, token, recipient, shop },
  )
}

/**
 * Returns the value to store for the shop, or `undefined` if the stored one
 * agrees with the configuration.
 */
function planValue(
  { configured: { fulfilAt, kinds } }: Shop,
  value: ShopValue,
): ShopValue | undefined {
  const isSame =
    value.changes > 0 &&
    (fulfilAt === undefined || fulfilAt === value.fulfilAt) &&
    (kinds === undefined || String(kinds) === String(value.kinds))
  if (isSame) return undefined
  return {
    ...value,
    ...(fulfilAt === undefined ? {} : { fulfilAt }),
    ...(kinds === undefined ? {} : { kinds }),
  }
}
