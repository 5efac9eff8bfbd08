import type { SignedPayment } from '../../core/types.js'
import { wait } from '../../core/wait.js'
import { endOfTime } from '../../store/endOfTime.js'
import { loadOrders } from '../model/loadOrders.js'
import { signedPaymentOf } from '../model/paymentOf.js'
import type { StoredOrder } from '../model/storedOrder.js'
import type { OrdersContext } from '../model/types.js'
import { groupByPayer } from './groupByPayer.js'
import { roomOf } from './planSending.js'
import type { SubmitterState } from './submitterState.js'

/** Most orders one tick takes. */
export const mostDue = 500

/** Orders that may be due, the soonest deadline first. */
export type FoundDue = {
  files: readonly StoredOrder[]
  /** There may be more than were read. */
  isCut: boolean
}

/**
 * Reads what a submitter without anything in flight will have to send, before it is
 * known what time the chain has. Whatever fails is done again when it is needed.
 */
export async function peekDue(
  context: OrdersContext,
  submitter: SubmitterState,
): Promise<FoundDue | undefined> {
  const limit = Math.min(roomOf(submitter, context.policy), mostDue)
  if (limit === 0) return undefined
  // The look at the chain is on its way before this takes the time.
  await wait(1)
  // Compared with the chain's time once that is known.
  const files = await readDue(context, submitter, endOfTime, limit).catch(
    () => undefined,
  )
  if (!files) return undefined
  const [first = []] = groupByPayer(files)
  void openAll(context, submitter, first)
  return { files, isCut: files.length === limit }
}

/** What is due by the chain's time, of what was read ahead where that will do. */
export async function findDue(
  context: OrdersContext,
  submitter: SubmitterState,
  {
    until,
    limit,
    ahead,
  }: { until: bigint; limit: number; ahead: FoundDue | undefined },
): Promise<readonly StoredOrder[]> {
  const due = ahead?.files.filter(
    ({ order: { sendDue } }) => sendDue !== undefined && sendDue <= until,
  )
  const isAll = ahead && due && (!ahead.isCut || due.length >= limit)
  const files = isAll
    ? due.slice(0, limit)
    : await readDue(context, submitter, until, limit)
  submitter.due = new Map(files.map((file) => [file.order.id, file]))
  return files
}

function readDue(
  { store }: OrdersContext,
  { wallet, recipients }: SubmitterState,
  until: bigint,
  limit: number,
): Promise<StoredOrder[]> {
  return store.read(async (tables) => {
    const due = { sendDue: wallet.submitter, recipients, until, limit }
    const found = await loadOrders(tables, due)
    return [...found.values()]
  })
}

/** Has the seal of a payment opened before it is taken. */
function openAhead(
  context: OrdersContext,
  { opened }: SubmitterState,
  { order, attempt }: StoredOrder,
): void {
  const payment = signedPaymentOf(context, order, attempt)
  // Whoever takes it hears of it.
  payment.catch(() => undefined)
  opened.set(attempt, payment)
}

/** The payment of an attempt, which stays in memory no longer than it is used. */
export function takePayment(
  context: OrdersContext,
  { opened }: SubmitterState,
  { order, attempt }: StoredOrder,
): Promise<SignedPayment | undefined> {
  const ahead = opened.get(attempt)
  opened.delete(attempt)
  return ahead ?? signedPaymentOf(context, order, attempt)
}

/** Opens seals ahead, so that what is asked with them is asked at once. */
export async function openAll(
  context: OrdersContext,
  submitter: SubmitterState,
  files: readonly StoredOrder[],
): Promise<void> {
  const closed = files.filter(
    ({ order, attempt }) =>
      attempt.signature !== undefined &&
      order.requested !== 'cancel' &&
      !submitter.opened.has(attempt),
  )
  for (const file of closed) openAhead(context, submitter, file)
  await Promise.allSettled(
    files.map(({ attempt }) => submitter.opened.get(attempt)),
  )
}
