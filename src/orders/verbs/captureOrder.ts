import { checkMembers } from '../../core/checkMembers.js'
import { checkTimeout } from '../../core/checkTimeout.js'
import { parseOrderId } from '../../core/parseOrderId.js'
import type { OrderRecord, TransactionRecord } from '../../store/types.js'
import {
  isAnswerable,
  isDecided,
  isPreconfirmed,
} from '../account/waitForOrders.js'
import type { OrdersContext } from '../context/types.js'
import { type AnswerAt, parseAnswerAt } from '../model/earlyAnswer.js'
import { endsOf } from '../model/endsOf.js'
import { loadOrder } from '../model/loadOrders.js'
import { showOrder } from '../model/showOrder.js'
import type { StoredOrder } from '../model/storedOrder.js'
import type { CaptureResult } from '../model/types.js'
import { nameAmount } from '../sending/nameAmount.js'
import type { SubmitterEngine } from '../submitter/submitterEngine.js'

/** Parameters of `capture`: which order, how much, and when to answer. */
export type CaptureOrderParameters = {
  orderId: string
  /**
   * The amount to capture of an order with a ceiling, such as `'42.10'`, in
   * whole tokens. The first call stores it; later calls may omit it. For an
   * order with an exact amount, only that amount is allowed.
   */
  amount?: string | undefined
  /**
   * Milliseconds to wait for a result; then the status is `unknown`. @default
   * 60_000
   */
  timeout?: number | undefined
  /**
   * When to answer. `preconfirmed`: once the node's pending block shows the
   * capture. The chain can still drop it, so this needs `policy.mostAtRisk`.
   * Where the limits do not allow it, or the node has no pending block, the
   * answer waits until a block includes the capture.
   * @default 'included'
   */
  answerAt?: AnswerAt | undefined
  /**
   * The largest payment to answer at `preconfirmed`, a decimal in whole tokens.
   * Required with `answerAt: 'preconfirmed'`.
   */
  preconfirmedUpTo?: string | undefined
}

/**
 * Implements `capture` of `DestinationOrders`: requests the capture, and waits
 * for the submitter.
 */
export async function captureOrder(
  context: OrdersContext,
  engine: SubmitterEngine,
  parameters: CaptureOrderParameters,
): Promise<CaptureResult> {
  checkMembers(parameters, [
    'orderId',
    'amount',
    'timeout',
    'answerAt',
    'preconfirmedUpTo',
  ])
  const { orderId, amount, timeout = 60_000 } = parameters
  const id = parseOrderId(orderId)
  checkTimeout(timeout)
  const upTo = parseAnswerAt(parameters, context.policy)
  if (amount !== undefined) {
    const refused = await nameAmount(context, id, amount)
    if (refused) return refused
  }
  const early = upTo === undefined ? undefined : { upTo }
  const asked = await engine.requestCapture(id, early)
  const answerAt = early && 'preconfirmed'
  return waitForCapture(context, engine, asked, { timeout, answerAt })
}

/**
 * Waits until the capture of an order is decided, or can be answered early.
 * @param asked the order as it was when its capture was requested.
 */
export async function waitForCapture(
  context: OrdersContext,
  engine: SubmitterEngine,
  asked: OrderRecord,
  {
    timeout,
    answerAt = 'included',
  }: { timeout: number; answerAt?: AnswerAt | undefined },
): Promise<CaptureResult> {
  const found = isAnswerable(asked, answerAt)
    ? undefined
    : await engine.waitFor(asked, timeout, answerAt)
  if (!found) return loadResult(context, asked.id, answerAt)
  return resultOf(found, [], answerAt)
}

/**
 * Reads the result from the store when the caller does not wait, or the wait
 * timed out.
 */
async function loadResult(
  context: OrdersContext,
  id: string,
  answerAt: AnswerAt,
): Promise<CaptureResult> {
  const [found, sent] = await context.store.read(async (tables) => [
    await loadOrder(tables, context, id),
    await tables.transactions.find({ orderIds: [id] }),
  ])
  return resultOf(found, sent, answerAt)
}

function resultOf(
  found: StoredOrder,
  sent: readonly TransactionRecord[],
  answerAt: AnswerAt,
): CaptureResult {
  const order = showOrder(found)
  const { capture, state, preconfirmed: transactionHash } = order
  if (capture) return { status: 'captured', order, proof: capture }
  const isEarly = answerAt === 'preconfirmed' && isPreconfirmed(found.order)
  if (isEarly && transactionHash)
    return { status: 'preconfirmed', order, transactionHash }
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
  // The wallet returned no hash, but may have sent the transaction. We must not
  // send another one, so only the end of the payment's window decides.
  return open.some(({ hash }) => hash === undefined) ? 'window' : 'chain'
}
