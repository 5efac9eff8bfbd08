import type { Address } from 'viem'
import { inTime } from '../chain/rpc/inTime.js'
import { checkMembers } from '../core/checkMembers.js'
import { InvalidFieldError } from '../core/errors.js'
import { createContext } from './createContext.js'
import { lastAnswers, lastWrites } from './evidence/endingContext.js'
import type { CreateOrdersParameters, OrdersContext } from './model/types.js'
import { narrowContext } from './narrowContext.js'
import {
  openAndRun,
  type RunWorkerParameters,
  type runWorker,
} from './runWorker.js'
import {
  driveSubmitters,
  type SubmitterEngine,
} from './submitter/driveSubmitters.js'
import { untilSignal } from './untilSignal.js'
import { acceptPayment } from './verbs/acceptPayment.js'
import { auditOrders } from './verbs/auditOrders.js'
import { cancelOrder } from './verbs/cancelOrder.js'
import {
  type CaptureOrderParameters,
  captureOrder,
} from './verbs/captureOrder.js'
import { draftOrder } from './verbs/draftOrder.js'
import { getForBuyer } from './verbs/getForBuyer.js'
import { getOrder } from './verbs/getOrder.js'
import { listOrders } from './verbs/listOrders.js'
import { openStore } from './verbs/openStore.js'
import { readEvents } from './verbs/readEvents.js'
import { readHealth } from './verbs/readHealth.js'
import { reauthorizeOrder } from './verbs/reauthorizeOrder.js'
import { requestCancellation } from './verbs/requestCancellation.js'
import { resumeOrders } from './verbs/resumeOrders.js'
import { voidOrder } from './verbs/voidOrder.js'
import { reconcile } from './watcher/reconcile.js'
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
  /** Reads an order, and the payment to sign, for who holds its token. */
  getForBuyer: typeof getForBuyer
  /** Lists orders, the newest first. */
  list: typeof listOrders
  /** Reads what happened, from a cursor on. */
  events: typeof readEvents
  /** Reads how orders, submitters and chains stand. */
  health: typeof readHealth
  /** Compares what reached the recipients with what is on record. */
  audit: typeof auditOrders
}

/** What concerns the whole of an instance. */
type InstanceVerbs = {
  /** Allows captures again after a database was replaced. */
  resume: typeof resumeOrders
}

/** What sends, or has something sent. */
type SendingVerbs = {
  /** Captures an order exactly once, and tells what the chain took. */
  capture: typeof captureOrder
}

/** What works until it is told to stop. */
type WorkingVerbs = {
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
    engine: SubmitterEngine,
    ...rest: never[]
  ) => unknown,
> = verb extends (
  context: OrdersContext,
  engine: SubmitterEngine,
  ...rest: infer rest
) => infer result
  ? (...rest: rest) => result
  : never

/** Orders of some recipients: those of others are not there. */
export type DestinationOrders = {
  [name in keyof Verbs]: Method<Verbs[name]>
} & {
  [name in keyof SendingVerbs]: SendingMethod<SendingVerbs[name]>
}

/** The whole life of orders, over one store. */
export type Orders = DestinationOrders & {
  [name in keyof InstanceVerbs]: Method<InstanceVerbs[name]>
} & {
  [name in keyof WorkingVerbs]: SendingMethod<WorkingVerbs[name]>
} & {
  /** The same for some recipients only, for whoever may act for no other. */
  within(parameters: { recipients: readonly Address[] }): DestinationOrders
  /**
   * Ends all work, workers too, and closes the store. Waits only a few seconds
   * for a database that hangs.
   */
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
 * and nobody said so; when a recipient is no wallet and has no relayer.
 *
 * @example
 * ```ts
 * import { createOrders } from 'countersign/orders'
 * import { memoryStore } from 'countersign/store'
 * import { createReadClient } from 'countersign/reads'
 * import type { WalletClient } from 'viem'
 * import { base } from 'viem/chains'
 *
 * export function openShop(merchant: WalletClient) {
 *   const url = 'https://mainnet.base.org'
 *   return createOrders({
 *     store: memoryStore({ volatile: true }),
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
  let engine: SubmitterEngine | undefined
  const drive = () => {
    engine ??= driveSubmitters(context)
    return engine
  }
  const going = new Set<Promise<unknown>>()
  const hold = <result>(work: Promise<result>) => {
    going.add(work)
    return work.finally(() => going.delete(work))
  }
  const instance = { open, drive, hold }
  return {
    ...bindVerbs(context, instance),
    resume: bindVerb(context, 'resume', open, resumeOrders),
    run: bindVerb(
      context,
      'run',
      // The worker opens the store itself and tries again if that fails.
      async () => undefined,
      (it, options: RunWorkerParameters) =>
        hold(openAndRun(it, drive(), options, open)),
    ),
    within: (parameters) => {
      checkParameters(parameters, true)
      checkMembers(parameters, { recipients: true })
      const { recipients } = parameters
      const own = narrowContext(context, recipients)
      const verbs = bindVerbs(own, instance)
      return {
        ...verbs,
        // The submitters are driven for all recipients: this one has to be its own.
        capture: async (options) => {
          const { orderId } = Object(options)
          await verbs.get({ orderId })
          return verbs.capture(options)
        },
      }
    },
    close: async () => {
      const ended = Promise.all([engine?.stop(), Promise.allSettled(going)])
      await endWithin(ended, lastAnswers + 2 * lastWrites)
      await endWithin(context.store.close(), lastWrites)
    },
  }
}

/** Waits for work to end, up to a limit; work that hangs goes on by itself. */
async function endWithin(
  work: Promise<unknown>,
  milliseconds: number,
): Promise<void> {
  await inTime<unknown>(work, milliseconds, () => undefined)
}

/** What the verbs of an instance share. */
type Instance = {
  open: () => Promise<void>
  drive: () => SubmitterEngine
  /** The store is not closed before it has come to an end. */
  hold: <result>(work: Promise<result>) => Promise<result>
}

function bindVerbs(
  context: OrdersContext,
  { open, drive, hold }: Instance,
): DestinationOrders {
  const bind = <rest extends unknown[], result>(
    name: string,
    verb: (context: OrdersContext, ...rest: rest) => Promise<result>,
  ) => bindVerb(context, name, open, verb)
  return {
    draft: bind('draft', draftOrder),
    accept: bind('accept', acceptPayment),
    reauthorize: bind('reauthorize', reauthorizeOrder),
    void: bind('void', voidOrder),
    requestCancellation: bind('requestCancellation', requestCancellation),
    cancel: bind('cancel', cancelOrder),
    reconcile: bind('reconcile', untilSignal(reconcile)),
    get: bind('get', getOrder),
    getForBuyer: bind('getForBuyer', getForBuyer),
    list: bind('list', listOrders),
    events: bind('events', readEvents),
    health: bind('health', readHealth),
    audit: bind('audit', untilSignal(auditOrders)),
    capture: bind('capture', (it, options: CaptureOrderParameters) =>
      hold(captureOrder(it, drive(), options)),
    ),
  }
}

/** A verb as a method, over an open store, and watched. */
function bindVerb<rest extends unknown[], result>(
  context: OrdersContext,
  name: string,
  open: () => Promise<void>,
  verb: (context: OrdersContext, ...rest: rest) => Promise<result>,
): (...rest: rest) => Promise<result> {
  return (...rest) =>
    watchVerb(context, name, async () => {
      checkParameters(rest[0], verb.length > 1)
      await open()
      return verb(context, ...rest)
    })
}

/** Types promise an object, which JavaScript need not give. */
function checkParameters(given: unknown, isNeeded: boolean): void {
  const isObject = typeof given === 'object' && given !== null
  if (isObject || (given === undefined && !isNeeded)) return
  throw new InvalidFieldError('parameters', given, 'an object')
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
