import { checkMembers } from '../core/checkMembers.js'
import type { CreateOrdersParameters, OrdersContext } from './context/types.js'
import { keepContext, type OrdersInside } from './contextOf.js'
import { createContext, narrowContext } from './createContext.js'
import {
  checkObject,
  createInstance,
  type Instance,
  untilSignal,
  watchVerb,
} from './createInstance.js'
import type { DestinationOrders } from './DestinationOrders.js'
import { readLedger } from './ledger/readLedger.js'
import { OrdersSetupError } from './model/errors.js'
import type { AnyDraftedPayment, DraftedOrder } from './model/types.js'
import type { Orders } from './Orders.js'
import { createRunDue } from './runDue.js'
import { runWorker } from './runWorker.js'
import { acceptCancellation } from './verbs/acceptCancellation.js'
import { acceptPayment } from './verbs/acceptPayment.js'
import { acceptRefund } from './verbs/acceptRefund.js'
import { approveCancellation } from './verbs/approveCancellation.js'
import { archiveOrders } from './verbs/archiveOrders.js'
import { auditOrders } from './verbs/auditOrders.js'
import { cancellationToSign } from './verbs/cancellationToSign.js'
import { captureOrder } from './verbs/captureOrder.js'
import { changeRecipients } from './verbs/changeRecipients.js'
import { createProbes } from './verbs/createProbes.js'
import type {
  DraftOrderParameters,
  ExactDraftParameters,
} from './verbs/draftFacts.js'
import { draftOrder } from './verbs/draftOrder.js'
import { getForBuyer } from './verbs/getForBuyer.js'
import { getHealth } from './verbs/getHealth.js'
import { getOrder } from './verbs/getOrder.js'
import { getRefund } from './verbs/getRefund.js'
import { listEvents } from './verbs/listEvents.js'
import { listOrders } from './verbs/listOrders.js'
import { reauthorizeOrder } from './verbs/reauthorizeOrder.js'
import { refundOrder } from './verbs/refundOrder.js'
import { refundToSign } from './verbs/refundToSign.js'
import { refundWithinLimit } from './verbs/refundWithinLimit.js'
import { resealOrders } from './verbs/resealOrders.js'
import { resumeOrders } from './verbs/resumeOrders.js'
import { suspendOrders } from './verbs/suspendOrders.js'
import { voidOrder } from './verbs/voidOrder.js'
import { reconcile } from './watcher/reconcile.js'

/**
 * Creates the orders of a merchant's backend: draft, accept, capture exactly
 * once, void, cancel, and compare with the chain.
 *
 * Opens no store and asks no node before the first method. Works in the
 * background only during `run`, and during `capture` while you wait for it.
 *
 * @throws {@link InvalidFieldError} when a parameter is malformed.
 * @throws {@link AccountError} when a wallet has no account.
 * @throws {@link OrdersSetupError} when `seal` is neither a sealer nor
 * `'none'`; when a recipient has neither a wallet nor a relayer.
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
  const instance = createInstance(context)
  const { drive, hold, openSealed, perform } = instance
  const { liveness, readiness } = createProbes(context, instance)
  const openToRun = async () => {
    await openSealed()
    checkKinds(context)
  }
  const run: Orders['run'] = (given) =>
    hold(runWorker(context, drive(), given, openToRun))
  const runDue = createRunDue(
    { open: openToRun, closing: instance.closing },
    run,
  )
  const orders: Orders = {
    ...createMethods(context, instance),
    run: (given) =>
      watchVerb(context, 'run', async () => {
        checkObject(given)
        await run(given)
      }),
    runDue: (given) =>
      watchVerb(context, 'runDue', async () => {
        checkObject(given)
        return runDue(given)
      }),
    liveness: () => watchVerb(context, 'liveness', liveness),
    readiness: () => watchVerb(context, 'readiness', readiness),
    archive: (given) =>
      perform('archive', given, () =>
        untilSignal(context, given, archiveOrders),
      ),
    reseal: (given = {}) =>
      perform('reseal', given, () => untilSignal(context, given, resealOrders)),
    changeRecipients: (given) =>
      perform('changeRecipients', given, () =>
        changeRecipients(context, given),
      ),
    suspend: () => perform('suspend', {}, () => suspendOrders(context)),
    resume: () => perform('resume', {}, () => resumeOrders(context)),
    within: (given) => {
      checkObject(given)
      checkMembers(given, { recipients: true })
      const own = narrowContext(context, given.recipients)
      const methods = createMethods(own, instance)
      const narrowed: DestinationOrders = {
        ...methods,
        // The engine captures orders of all recipients, so check first that
        // this order belongs to one of ours.
        capture: async (given) => {
          const { orderId } = Object(given)
          await methods.get({ orderId })
          return methods.capture(given)
        },
      }
      return keepContext(narrowed, insideOf(own, instance))
    },
    close: instance.close,
  }
  return keepContext(orders, insideOf(context, instance))
}

/**
 * Makes `run` fail if the stored shop takes a kind of payment that is not in
 * this instance's `kinds`: a worker here could not process its orders.
 */
function checkKinds({ shop, kinds }: OrdersContext): void {
  const missing = shop.kinds.find((kind) => !kinds.has(kind))
  if (missing === undefined) return
  throw new OrdersSetupError(
    `lack the kind of payments "${missing}" that shop "${shop.name}" takes: add it to kinds; if the shop no longer takes it, start once with kinds: []`,
    { kind: missing, shop: shop.name },
  )
}

/** Builds the access that other parts of this package get from `contextOf`. */
function insideOf(context: OrdersContext, instance: Instance): OrdersInside {
  return {
    context,
    instance,
    refundWithinLimit: (parameters, limitOf) =>
      instance.perform('refund', parameters, () =>
        refundWithinLimit(context, parameters, limitOf),
      ),
  }
}

function createMethods(
  context: OrdersContext,
  { drive, perform, hold, stream }: Instance,
): DestinationOrders {
  function draft(given: ExactDraftParameters): Promise<DraftedOrder>
  function draft(
    given: DraftOrderParameters,
  ): Promise<DraftedOrder<AnyDraftedPayment>>
  function draft(
    given: DraftOrderParameters,
  ): Promise<DraftedOrder<AnyDraftedPayment>> {
    return perform('draft', given, () => draftOrder(context, given))
  }
  return {
    draft,
    accept: (given) =>
      perform('accept', given, () => acceptPayment(context, given)),
    reauthorize: (given) =>
      perform('reauthorize', given, () => reauthorizeOrder(context, given)),
    capture: (given) =>
      perform('capture', given, () =>
        hold(captureOrder(context, drive(), given)),
      ),
    void: (given) => perform('void', given, () => voidOrder(context, given)),
    cancellationToSign: (given) =>
      perform('cancellationToSign', given, () =>
        cancellationToSign(context, given),
      ),
    acceptCancellation: (given) =>
      perform('acceptCancellation', given, () =>
        acceptCancellation(context, given),
      ),
    approveCancellation: (given) =>
      perform('approveCancellation', given, () =>
        approveCancellation(context, given),
      ),
    reconcile: (given = {}) =>
      perform('reconcile', given, () => untilSignal(context, given, reconcile)),
    get: (given) => perform('get', given, () => getOrder(context, given)),
    getForBuyer: (given) =>
      perform('getForBuyer', given, () => getForBuyer(context, given)),
    list: (given = {}) =>
      perform('list', given, () => listOrders(context, given)),
    events: (given = {}) =>
      perform('events', given, () => listEvents(context, given)),
    health: () => perform('health', {}, () => getHealth(context)),
    refund: (given) =>
      perform('refund', given, () => refundOrder(context, given)),
    refundToSign: (given) =>
      perform('refundToSign', given, () => refundToSign(context, given)),
    acceptRefund: (given) =>
      perform('acceptRefund', given, () => acceptRefund(context, given)),
    getRefund: (given) =>
      perform('getRefund', given, () => getRefund(context, given)),
    audit: (given = {}) =>
      perform('audit', given, () => untilSignal(context, given, auditOrders)),
    ledger: (given = {}) =>
      stream('ledger', given, () => readLedger(context, given)),
  }
}
