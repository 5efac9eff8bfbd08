import { join } from 'node:path'
import type { DevChain } from 'countersign/devchain'
import {
  createOrders,
  type Orders,
  type OrdersPolicy,
} from 'countersign/orders'
import { createReadClient } from 'countersign/reads'
import { sqliteStore } from 'countersign/sql'
import { sealer } from 'countersign/store'

type OpenOrdersParameters = {
  /** Where the database lies. */
  folder: string
  sealKey: Uint8Array
  policy: OrdersPolicy
}

/** Opens the orders of this chain; those of another chain stay beside them. */
export async function openOrders(
  chain: DevChain,
  { folder, sealKey, policy }: OpenOrdersParameters,
): Promise<Orders> {
  const { hash } = await chain.clients.public.getBlock({ blockNumber: 0n })
  const client = createReadClient({ url: chain.urls.http, chain: chain.chain })
  return createOrders({
    store: sqliteStore({
      file: join(folder, `orders-${hash.slice(2, 10)}.db`),
    }),
    seal: sealer({ keys: { shop: sealKey }, current: 'shop' }),
    tokens: [{ client, token: chain.token }],
    wallets: [chain.clients.merchant],
    policy,
  })
}
