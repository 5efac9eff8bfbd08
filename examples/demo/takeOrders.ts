import { createOrders, type Orders, sealer } from 'countersign/orders'
import { createReadClient } from 'countersign/reads'
import { sqliteStore } from 'countersign/sql'
import { type Client, toBytes } from 'viem'
import type { Place } from './openShop.js'

/** Orders as every process of a shop takes them. */
export function takeOrders(
  { url, token, file, sealKey, policy }: Place,
  wallet: Client,
): Orders {
  return createOrders({
    store: sqliteStore({ file }),
    seal: sealer({ keys: { demo: toBytes(sealKey) }, current: 'demo' }),
    tokens: [{ client: createReadClient({ url, chain: wallet.chain }), token }],
    wallets: [wallet],
    policy: { pollingInterval: 100, ...policy },
  })
}
