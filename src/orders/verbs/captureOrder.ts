import { checkMembers, type MembersOf } from '../../core/checkMembers.js'
import { InvalidFieldError } from '../../core/errors.js'
import type { OrderRecord, TransactionRecord } from '../../store/types.js'
import { endsOf } from '../model/endsOf.js'
import { loadOrder } from '../model/loadOrders.js'
import { parseOrderId } from '../model/parseOrderId.js'
import { showOrder } from '../model/showOrder.js'
import type { StoredOrder } from '../model/storedOrder.js'
import type { CaptureResult, OrdersContext } from '../model/types.js'
import { nameAmount } from '../submitter/nameAmount.js'
import type { SubmitterEngine } from '../submitter/submitterEngine.js'
import { isDecided } from '../submitter/waitForOrders.js'

/** What `capture` takes. */
export type CaptureOrderParameters = {
  orderId: string
  /**
   * The amount to capture of an order with a ceiling, such as `'42.10'`, in
   * whole tokens. The first call fixes it; later calls may leave it out. For an
   * exact order, only its own amount.
   */
  amount?: string | undefined
  /** Milliseconds to wait for a result. @default 60_000 */
  timeout?: number | undefined
}

const members: MembersOf<CaptureOrderParameters> = {
  orderId: true,
  amount: true,
  timeout: true,
}

/** Longer timers fire at once. */
const longest = 2_147_483_647

/** `capture` of `DestinationOrders`: requests it, and waits for the engine. */
export async function captureOrder(
  context: OrdersContext,
  engine: SubmitterEngine,
  parameters: CaptureOrderParameters,
): Promise<CaptureResult> {
  checkMembers(parameters, members)
  const { orderId, amount, timeout = 60_000 } = parameters
  const id = parseOrderId(orderId)
  if (typeof timeout !== 'number' || !(timeout >= 0 && timeout <= longest))
    throw new InvalidFieldError(
      'timeout',
      timeout,
      `milliseconds from 0 to ${longest}`,
    )
  if (amount !== undefined) {
    const refused = await nameAmount(context, id, amount)
    if (refused) return refused
  }
  const asked = await engine.requestCapture(id)
  return waitForCapture(context, engine, asked, timeout)
}

/**
 * Waits until the capture of an order is decided.
 *
 * @param asked the order as it was when its capture had been requested.
 */
export async function waitForCapture(
  context: OrdersContext,
  engine: SubmitterEngine,
  asked: OrderRecord,
  timeout: number,
): Promise<CaptureResult> {
  const found = isDecided(asked)
    ? undefined
    : await engine.waitFor(asked, timeout)
  return found ? resultOf(found, []) : loadResult(context, asked.id)
}

/**
 * Loads the result from the database, when nobody waits or the wait timed out.
 */
async function loadResult(
  context: OrdersContext,
  id: string,
): Promise<CaptureResult> {
  const [found, sent] = await context.store.read(async (tables) => [
    await loadOrder(tables, context, id),
    await tables.transactions.find({ orderIds: [id] }),
  ])
  return resultOf(found, sent)
}

/** Turns an order into the result of its capture. Pure. */
function resultOf(
  found: StoredOrder,
  sent: readonly TransactionRecord[],
): CaptureResult {
  const order = showOrder(found)
  const { capture, state } = order
  if (capture) return { status: 'captured', order, proof: capture }
  if (isDecided(found.order) && state !== 'captured')
    return { status: 'rejected', order, reason: reasonOf(found) }
  const ends = endsOf(found.attempt)
  const isCancel = state === 'canceling' || found.order.requested === 'cancel'
  return {
    status: 'unknown',
    order,
    resolvedBy: resolverOf(found, sent),
    until: isCancel ? ends.cancel : ends.capture,
  }
}

function reasonOf({
  order: { state, reason },
}: StoredOrder): Extract<CaptureResult, { status: 'rejected' }>['reason'] {
  if (state === 'canceled' || state === 'expired' || state === 'consumed')
    return state
  return state === 'stored' ? (reason ?? 'notOpen') : 'notOpen'
}

function resolverOf(
  { order: { state } }: StoredOrder,
  sent: readonly TransactionRecord[],
): 'worker' | 'chain' | 'window' {
  if (state === 'stored') return 'worker'
  const open = sent.filter((row) => row.inFlight)
  // Nothing can be sent again while the wallet may have sent it.
  return open.some(({ hash }) => hash === undefined) ? 'window' : 'chain'
}
