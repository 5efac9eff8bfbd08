import type { CreateOrdersParameters } from 'countersign/orders'
import { createReadClient } from 'countersign/reads'
import { postgresStore } from 'countersign/sql'
import { sealer } from 'countersign/store'
import { createClient, http, toBytes } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { readShop } from './shop.js'

const shop = readShop()
const { chain, url, token, pooled, direct } = shop

/** The shop's orders, as all of its processes and the command line open them. */
const parameters: CreateOrdersParameters = {
  store: postgresStore({
    connectionString: pooled,
    // PgBouncer forwards no notices.
    listen: direct,
    standbys: shop.isSynchronous ? 'synchronous' : undefined,
  }),
  seal: sealer({ keys: { 'key-1': toBytes(shop.sealKey) }, current: 'key-1' }),
  tokens: [{ client: createReadClient({ url, chain }), token }],
  wallets: [
    createClient({
      account: privateKeyToAccount(shop.walletKey),
      chain,
      transport: http(url, { batch: true }),
    }),
  ],
  policy: { capture: 'onAccept', lease: 5_000 },
}

export default parameters
