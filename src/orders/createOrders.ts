import { acceptPayment } from './acceptPayment.js'
import { cancelOrder } from './cancelOrder.js'
import { createContext } from './createContext.js'
import { draftOrder } from './draftOrder.js'
import { getOrder } from './getOrder.js'
import { listOrders } from './listOrders.js'
import { openStore } from './openStore.js'
import { readEvents } from './readEvents.js'
import { readHealth } from './readHealth.js'
import { reauthorizeOrder } from './reauthorizeOrder.js'
import { requestCancellation } from './requestCancellation.js'
import type { CreateOrdersParameters, OrdersContext } from './types.js'
import { voidOrder } from './voidOrder.js'

/** What can be done with orders, each described where it is written. */
type Verbs = {
  draft: typeof draftOrder
  accept: typeof acceptPayment
  reauthorize: typeof reauthorizeOrder
  void: typeof voidOrder
  requestCancellation: typeof requestCancellation
  cancel: typeof cancelOrder
  get: typeof getOrder
  list: typeof listOrders
  events: typeof readEvents
  health: typeof readHealth
}

/** A free function as a method: the same without the context. */
type Method<
  verb extends (context: OrdersContext, ...rest: never[]) => unknown,
> = verb extends (context: OrdersContext, ...rest: infer rest) => infer result
  ? (...rest: rest) => result
  : never

/** The whole life of orders, over one store. */
export type Orders = { [name in keyof Verbs]: Method<Verbs[name]> } & {
  /** Closes the store; first end what `run` runs, by its signal. */
  close(): Promise<void>
}

/**
 * Gives a merchant's backend the whole life of its orders: draft, accept,
 * capture exactly once, void, cancel, and find out what the chain took.
 *
 * Nothing is opened or asked before the first verb. Nothing is sent in the
 * background except by `run`.
 *
 * @throws {@link InvalidFieldError} when a parameter is malformed.
 * @throws {@link AccountError} when a wallet has no account.
 * @throws {@link OrdersSetupError} when credentials would be kept in the open,
 * or orders in a store that forgets, and nobody said so.
 *
 * @example
 * ```ts
 * import { createOrders, memoryStore } from 'countersign/orders'
 * import { createReadClient } from 'countersign/reads'
 * import type { WalletClient } from 'viem'
 * import { base } from 'viem/chains'
 *
 * export function openShop(merchant: WalletClient) {
 *   return createOrders({
 *     store: memoryStore({ volatile: true }),
 *     volatile: true,
 *     seal: 'none',
 *     tokens: [
 *       {
 *         client: createReadClient({
 *           chain: base,
 *           url: 'https://mainnet.base.org',
 *         }),
 *         token: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
 *       },
 *     ],
 *     wallets: [merchant],
 *   })
 * }
 * ```
 */
export function createOrders(parameters: CreateOrdersParameters): Orders {
  const context = createContext(parameters)
  const verbs: Verbs = {
    draft: draftOrder,
    accept: acceptPayment,
    reauthorize: reauthorizeOrder,
    void: voidOrder,
    requestCancellation,
    cancel: cancelOrder,
    get: getOrder,
    list: listOrders,
    events: readEvents,
    health: readHealth,
  }
  let opened: Promise<void> | undefined
  const open = (): Promise<void> => {
    opened ??= openStore(context).catch((error: unknown) => {
      opened = undefined
      throw error
    })
    return opened
  }
  const methods = Object.entries(verbs).map(([name, verb]) => [
    name,
    async (options: never) => {
      await open()
      return verb(context, options)
    },
  ])
  // The methods are the verbs one by one, which their names alone do not show.
  return {
    ...Object.fromEntries(methods),
    close: () => context.store.close(),
  } as Orders
}
