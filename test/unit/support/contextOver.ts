import type { PaymentStore } from 'countersign/store'
import { createClient, custom, defineChain } from 'viem'
import type { OrdersContext } from '../../../src/orders/context/types.js'
import { createContext } from '../../../src/orders/createContext.js'
import type { OrdersPolicy } from '../../../src/orders/model/types.js'

/** A client of the account `0x11…`, on a chain that says nothing by default. */
export function silentClient(
  request: () => Promise<unknown> = async () => null,
) {
  return createClient({
    account: `0x${'1'.repeat(40)}`,
    chain: defineChain({
      id: 1,
      name: 'One',
      rpcUrls: { default: { http: [] } },
      nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    }),
    transport: custom({ request }),
  })
}

/** Orders over a store, of that account. */
export function contextOver(
  store: PaymentStore,
  policy: OrdersPolicy = {},
): OrdersContext {
  const client = silentClient()
  return createContext({
    store,
    seal: 'none',
    wallets: [client],
    tokens: [{ client, token: `0x${'1'.repeat(40)}` }],
    policy,
  })
}
