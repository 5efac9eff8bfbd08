import { createOrders, type Observation, type Orders } from 'countersign/orders'
import { createReadClient } from 'countersign/reads'
import { postgresStore } from 'countersign/sql'
import { sealer } from 'countersign/store'
import {
  type Address,
  type Chain,
  createClient,
  custom,
  type Hex,
  toBytes,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

/** All that a process needs to work for the shop; JSON, keys included. */
export type Shop = {
  chain: Chain
  url: string
  token: Address
  connectionString: string
  schema: string
  sealKey: Hex
  /** One recipient each; both workers have both. */
  walletKeys: readonly Hex[]
}

/** The shop's orders, as each of its processes opens them. */
export function openOrders(
  { chain, url, token, sealKey, walletKeys, ...shop }: Shop,
  observe: (observation: Observation) => void = () => undefined,
): Orders {
  const client = createReadClient({ url, chain })
  const { connectionString, schema } = shop
  return createOrders({
    // Told of changes, workers need not ask for them.
    store: postgresStore({
      connectionString,
      schema,
      listen: connectionString,
    }),
    seal: sealer({ keys: { 'key-1': toBytes(sealKey) }, current: 'key-1' }),
    tokens: [{ client, token }],
    wallets: walletKeys.map((key) =>
      createClient({
        account: privateKeyToAccount(key),
        chain,
        transport: custom(client, { retryCount: 0 }),
      }),
    ),
    // Few at once, so that there is something to see.
    policy: { capture: 'onAccept', maxInFlight: 3, pollingInterval: 200 },
    observe,
  })
}
