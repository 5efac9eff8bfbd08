import { driveLanes, type LaneEngine } from '../lanes/driveLanes.js'
import type { CreateOrdersParameters, OrdersContext } from '../ledger/types.js'
import { auditOrders } from '../watch/auditOrders.js'
import { reconcile } from '../watch/reconcile.js'
import { acceptPayment } from './acceptPayment.js'
import { cancelOrder } from './cancelOrder.js'
import { captureOrder } from './captureOrder.js'
import { createContext } from './createContext.js'
import { draftOrder } from './draftOrder.js'
import { getOrder } from './getOrder.js'
import { listOrders } from './listOrders.js'
import { openStore } from './openStore.js'
import { readEvents } from './readEvents.js'
import { readHealth } from './readHealth.js'
import { reauthorizeOrder } from './reauthorizeOrder.js'
import { requestCancellation } from './requestCancellation.js'
import { resumeOrders } from './resumeOrders.js'
import { runWorker } from './runWorker.js'
import { voidOrder } from './voidOrder.js'
import { watchVerb } from './watchVerb.js'

/** What can be done with orders, each described where it is written. */
type Verbs = {
  /** Fixes what an order costs, and gives the payment to sign. */
  draft: typeof draftOrder
  /** Judges a signed payment by what was drafted, and keeps it. */
  accept: typeof acceptPayment
  /** Gives the payment to be signed once more, with a new window. */
  reauthorize: typeof reauthorizeOrder
  /** Gives up on an order; its signature stays spendable for a while. */
  void: typeof voidOrder
  /** Gives the cancellation for the buyer to sign. */
  requestCancellation: typeof requestCancellation
  /** Takes a buyer’s cancellation, or has a kept one sent. */
  cancel: typeof cancelOrder
  /** Compares the record with the chain and writes what is missing. */
  reconcile: typeof reconcile
  /** Reads an order as it is on record. */
  get: typeof getOrder
  /** Lists orders, the newest first. */
  list: typeof listOrders
  /** Reads what happened, from a cursor on. */
  events: typeof readEvents
  /** Reads how orders, lanes and chains stand. */
  health: typeof readHealth
  /** Compares what reached the recipients with what is on record. */
  audit: typeof auditOrders
  /** Allows captures again after a database was replaced. */
  resume: typeof resumeOrders
}

/** Verbs that send, or have something sent. */
type SendingVerbs = {
  /** Captures an order exactly once, and tells what the chain took. */
  capture: typeof captureOrder
  /** Does all that is due until told to stop. */
  run: typeof runWorker
}

/** A free function as a method: the same without the context. */
type Method<
  verb extends (context: OrdersContext, ...rest: never[]) => unknown,
> = verb extends (context: OrdersContext, ...rest: infer rest) => infer result
  ? (...rest: rest) => result
  : never

/** The same without the engine too. */
type SendingMethod<
  verb extends (
    context: OrdersContext,
    engine: LaneEngine,
    ...rest: never[]
  ) => unknown,
> = verb extends (
  context: OrdersContext,
  engine: LaneEngine,
  ...rest: infer rest
) => infer result
  ? (...rest: rest) => result
  : never

/** The whole life of orders, over one store. */
export type Orders = { [name in keyof Verbs]: Method<Verbs[name]> } & {
  [name in keyof SendingVerbs]: SendingMethod<SendingVerbs[name]>
} & {
  /** Ends what is being done, and closes the store. */
  close(): Promise<void>
}

/**
 * Gives a merchant's backend the whole life of its orders: draft, accept,
 * capture exactly once, void, cancel, and find out what the chain took.
 *
 * Nothing is opened or asked before the first verb. Nothing happens in the
 * background except by `run`, and by `capture` while it is waited for.
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
 *   const url = 'https://mainnet.base.org'
 *   return createOrders({
 *     store: memoryStore({ volatile: true }),
 *     volatile: true,
 *     seal: 'none',
 *     tokens: [
 *       {
 *         client: createReadClient({ chain: base, url }),
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
  const open = openOnce(context)
  let engine: LaneEngine | undefined
  const verbs: Verbs = {
    draft: draftOrder,
    accept: acceptPayment,
    reauthorize: reauthorizeOrder,
    void: voidOrder,
    requestCancellation,
    cancel: cancelOrder,
    reconcile,
    get: getOrder,
    list: listOrders,
    events: readEvents,
    health: readHealth,
    audit: auditOrders,
    resume: resumeOrders,
  }
  const sending: SendingVerbs = { capture: captureOrder, run: runWorker }
  const methods = Object.entries(verbs).map(([name, verb]) => [
    name,
    (options: never) =>
      watchVerb(context, name, async () => {
        await open()
        return verb(context, options)
      }),
  ])
  const sendingMethods = Object.entries(sending).map(([name, verb]) => [
    name,
    (options: never) =>
      watchVerb(context, name, async () => {
        await open()
        engine ??= driveLanes(context)
        return verb(context, engine, options)
      }),
  ])
  // The methods are the verbs one by one, which their names alone do not show.
  return {
    ...Object.fromEntries([...methods, ...sendingMethods]),
    close: async () => {
      await engine?.stop()
      await context.store.close()
    },
  } as Orders
}

/** Opens the store with the first verb; what failed may be tried again. */
function openOnce(context: OrdersContext): () => Promise<void> {
  let opened: Promise<void> | undefined
  return () => {
    opened ??= openStore(context).catch((error: unknown) => {
      opened = undefined
      throw error
    })
    return opened
  }
}
