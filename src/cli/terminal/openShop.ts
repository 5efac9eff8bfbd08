import type { OrdersContext } from '../../orders/engine.js'
import { contextOf } from '../../orders/engine.js'
import {
  type CreateOrdersParameters,
  createOrders,
  type Orders,
} from '../../orders/index.js'
import { ConfigError } from './errors.js'
import { loadConfig } from './loadConfig.js'
import type { CommandInput } from './types.js'

/**
 * The orders of a shop, with a store that neither creates nor changes tables
 * when it opens.
 */
export type OpenedShop = {
  orders: Orders
  context: OrdersContext
  parameters: CreateOrdersParameters
}

/**
 * Opens the shop of the configuration, runs `work` with it and closes it.
 * Unless `'write'` is passed, the database is opened for reading only.
 *
 * @throws {@link UsageError} {@link ConfigError} when the configuration is
 * missing or wrong.
 * @throws {@link StoreError} when there is no database, or its tables are of
 * another version.
 */
export async function withShop<result>(
  { io, text }: CommandInput,
  work: (shop: OpenedShop) => Promise<result>,
  access: 'read' | 'write' = 'read',
): Promise<result> {
  const given = await loadConfig(io, text('config'))
  const { attach } = given.store
  if (!attach)
    throw new ConfigError(
      'The commands cannot open this store: use sqliteStore or postgresStore of this release in the configuration.',
    )
  // Leaves out the configured observer: it belongs to the server, and its
  // statistics must not count commands.
  const { observe: _, ...rest } = given
  const parameters = { ...rest, store: attach(access) }
  const orders = createOrders(parameters)
  try {
    return await work({
      orders,
      context: contextOf(orders).context,
      parameters,
    })
  } finally {
    await orders.close()
    await given.store.close()
  }
}
