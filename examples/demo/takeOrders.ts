import {
  createOrders,
  type Orders,
  type OrdersPolicy,
} from 'countersign/orders'
import { createReadClient } from 'countersign/reads'
import { sealer } from 'countersign/store'
import { type Client, toBytes } from 'viem'
import { openStore } from './keepOrders.js'
import type { Place } from './openShop.js'

/** Orders as every process of a shop takes them. */
export function takeOrders(
  { chain, url, token, keeping, sealKey }: Place,
  wallet: Client,
  policy: OrdersPolicy = {},
): Orders {
  return createOrders({
    store: openStore(keeping),
    seal: sealer({ keys: { demo: toBytes(sealKey) }, current: 'demo' }),
    tokens: [{ client: createReadClient({ url, chain }), token }],
    wallets: [wallet],
    policy: { pollingInterval: 100, lease: 2_000, ...policy },
  })
}
