import { NodeAnswerError } from '../../chain/rpc/errors.js'
import { checkChain } from '../../chain/state/checkChain.js'
import type { SendingCosts } from '../../chain/state/getSubmitterHead.js'
import { addAll } from '../../core/addAll.js'
import { nextTurn } from '../../core/wait.js'
import { retryStale } from '../../store/writeAgain.js'
import {
  getSubmitterView,
  isMany,
  type SubmitterView,
} from '../account/getSubmitterView.js'
import { keepSubmitter } from '../account/openSubmitter.js'
import { choosesNonce, type SubmitterState } from '../account/submitterState.js'
import { watchWallet } from '../account/watchWallet.js'
import type { OrdersContext } from '../context/types.js'
import { putAside } from '../loop/putAside.js'
import type { StoredOrder } from '../model/storedOrder.js'
import { continueNonces } from '../nonces/continueNonces.js'
import { replaceTransactions } from '../nonces/replaceTransactions.js'
import { reportPreconfirmed } from '../nonces/reportPreconfirmed.js'
import { resendTransactions } from '../nonces/resendTransactions.js'
import { settleTransactions } from '../nonces/settleTransactions.js'
import { adoptOrders } from '../sending/adoptOrders.js'
import { type DueTransaction, idsOf } from '../sending/dueTransaction.js'
import { feesOf, type SubmitterFees } from '../sending/feesOf.js'
import { findDue, findWork, mostDue } from '../sending/findDue.js'
import { canPay, gasLeftOf, roomOf } from '../sending/planSending.js'
import {
  askForBatch,
  type BatchAnswer,
  fitInto,
  planTransactions,
  reachOf,
} from '../sending/planTransactions.js'
import { recordSigned } from '../sending/recordSigned.js'
import { isCertain, refuseDue } from '../sending/refuseDue.js'
import { type DueDraft, rehearseGroups } from '../sending/rehearseDue.js'
import { sendByWallet, storeAnswer } from '../sending/sendByWallet.js'
import { sendRecorded } from '../sending/sendRecorded.js'
import {
  type DueLeft,
  type SignedBytes,
  signDrafts,
} from '../sending/signDrafts.js'
import { sortDue } from '../sending/sortDue.js'
import { takeRehearsed } from '../sending/takeRehearsed.js'
import {
  openPayerCheck,
  type PayerCheck,
  withdrawSigned,
} from '../sending/withdrawSigned.js'

/*
 * The path of a capture. `orders.capture` writes the request
 * (`requestCaptures`): from then on the order is due. The engine
 * (`createSubmitterEngine`) starts the loop of the order's submitter
 * (`startDriver`) or wakes it. Each time it polls, the loop takes the lease or
 * keeps it (`openSubmitter`) and calls `workSubmitter`, which
 *
 *  1. `getSubmitterView`     asks the chain about the account and its receipts,
 *  2. `settleTransactions`   saves what the chain decided,
 *  3. `replaceTransactions`  replaces stuck or late transactions,
 *  4. `resendTransactions`   sends those again that the node lost,
 *
 * and then, in `sendDue`, sends due orders:
 *
 *  5. `findDue`              finds them, also captures requested just now,
 *  6. `continueNonces`       sets the next account nonce,
 *  7. `sortDue`              leaves out those that the stored facts forbid,
 *  8. `rehearseGroups`       simulates the others with `eth_call`,
 *                            except those that `accept` just simulated;
 *
 * for each chunk of drafts, in `sendDrafts`:
 *
 *  9. `canPay`               keeps as many as the account can pay gas for,
 * 10. `signDrafts`           signs and encrypts the transactions,
 * 11. `recordSigned`         stores them; their orders are `capturing`. Stores
 *                            captures requested just now with them,
 * 12. `sendRecorded`         sends them (`eth_sendRawTransaction`);
 *
 * and finally
 *
 * 13. `refuseDue`            saves why the refused ones are not sent.
 *
 * `signAndRecord` repeats 10 and 11, at most `mostRounds` times in all, for
 * drafts whose order changed in between or whose account nonce was taken. A
 * wallet that signs and sends itself does 10 to 12 in `sendByWallet`.
 */

export type SubmitterLook = {
  /** Orders that this poll settled, as they were written to the store. */
  settled: readonly StoredOrder[]
  /**
   * True when this poll wrote other orders that a caller may be waiting for.
   */
  isNews: boolean
  /** True when the merchant or a restore has suspended all sending. */
  isSuspended: boolean
  /**
   * True when another process, whose orders we do not send, waits for the
   * lease.
   */
  isClaimed: boolean
  /**
   * True when the limit of transactions in flight was reached, so that more
   * orders may be due.
   */
  isFull: boolean
  /**
   * Milliseconds until the next poll; `Infinity` when nothing is in flight or
   * due.
   */
  next: number
  /**
   * What may end that pause early. `idle`: any change of the store, because
   * nothing is in flight. `block`: an order that is due now.
   */
  rest: 'idle' | 'block' | undefined
  /**
   * True when nothing is in flight, and this poll began nothing. Orders may be
   * due that cannot be sent now, as while fees are too high.
   */
  isIdle: boolean
  /** While `isIdle`: milliseconds until orders may be sent. */
  dueIn: number
}

/** Milliseconds between two polls of a submitter. */
export type SubmitterPauses = {
  /** While a transaction is in flight or an order is due. */
  interval: number
  /**
   * While orders are due only later; these polls read the time of the chain.
   */
  quiet: number
  /**
   * True on a chain that has no pending block, so that nothing changes between
   * two blocks.
   */
  isBlockwise: boolean
}

/** Pause of a step that needs no further poll. */
const never = Number.POSITIVE_INFINITY

/**
 * Milliseconds until the first poll after something was sent or settled. Longer
 * with many transactions in flight, because each poll then costs many requests.
 */
const soonAfter = (submitter: SubmitterState): number =>
  isMany(submitter) ? 16 : 8

/**
 * Does all current work of a submitter, under its lease: stores what the chain
 * decided, replaces stuck transactions, sends lost ones again, and sends due
 * orders.
 *
 * @throws {@link LeaseLostError} when the lease was lost. The caller must then
 * drop `submitter`, because another process may have changed its orders.
 */
export async function workSubmitter(
  context: OrdersContext,
  submitter: SubmitterState,
  pauses: SubmitterPauses,
): Promise<SubmitterLook> {
  const { pace, broadcasts } = submitter
  await retryStale(() => adoptOrders(context, submitter))
  const work = await findWork(context, submitter)
  const { isClaimed } = work
  const { suspended: isSuspended } = work
  const nothing = {
    settled: [],
    isNews: false,
    isFull: false,
    isClaimed,
    isSuspended,
    rest: undefined,
    isIdle: false,
    dueIn: never,
  }
  const step = openSteps(submitter)
  await step('wallet', () => storeAnswer(context, submitter, 0))
  const idle = isSuspended ? never : untilWork(pace, work, pauses)
  if (idle > 0) {
    pace.rememberIdle(0)
    submitter.openings.endLook()
    return { ...nothing, next: idle, rest: 'idle', isIdle: true, dueIn: idle }
  }
  pace.startLook()
  const isSending = work.due !== undefined || submitter.joins.isAwaited
  const { isBlockwise } = pauses
  const asking = { isSending, isBlockwise }
  const view = await getSubmitterView(context, submitter, asking)
  const now = context.now() / 1000n
  if (pace.isFarAhead(view.head, now))
    await checkChain(submitter.reader, submitter.wallet.submitter.chainId)
  const { headTime } = submitter.nonces.value
  if (pace.isFarBehind(view.head, now, headTime)) throw oldHeadError(view.head)
  if (!pace.believeHead(view.head, now))
    return { ...nothing, next: pauses.interval }
  await step('wallet', () => watchWallet(context, submitter, view))
  const settle = (shown: SubmitterView) =>
    step('settling', () =>
      retryStale(() => settleTransactions(context, submitter, shown)),
    )
  const settled = await settle(view)
  const shown = await step('preconfirmations', () =>
    retryStale(() => reportPreconfirmed(context, submitter, view)),
  )
  // The node's answers to earlier sends decide which transactions to replace or
  // send again.
  await broadcasts.answered()
  const replaced = await step('replacements', () =>
    retryStale(() => replaceTransactions(context, submitter, view)),
  )
  await step('resending', () => resendTransactions(context, submitter, view))
  const isFull = roomOf(submitter, context.policy) === 0
  const sent = await step('sending', () => sendDue(context, submitter, view))
  const looked = await sent?.looked
  const first = looked && (await settle(looked))
  pace.rememberQuick(first !== undefined)
  // The next poll follows at once, and finds the transactions mined if the node
  // has them by then.
  if (pace.isQuick) await broadcasts.answered()
  // After the node's pool was full, offer it a few more transactions at each
  // poll.
  broadcasts.admitMore()
  const isNews = sent !== undefined && sent.refused > 0
  const all = [...(settled ?? []), ...(shown ?? []), ...(first ?? [])]
  pace.rememberMined({ sent: (sent?.sent ?? 0) > 0, settled: !!settled })
  const soon = soonAfter(submitter)
  const { isReplaced = false, isMore = false } = replaced ?? {}
  const news = Math.min(
    settled || isMore ? soon : never,
    sent?.next ?? never,
    pace.isQuick || pace.expectsMined ? 0 : never,
  )
  // Neither a replacement nor a filled gap is news: no block included anything.
  pace.rememberIdle(news < never ? 0 : pace.idle + 1)
  const { joins, walletAsk, openings, inFlight } = submitter
  const isWaiting = joins.isAwaited || walletAsk.row || openings.late() > 0
  const isIdle = news === never && inFlight.rows.length === 0 && !isWaiting
  const untilDue = (work.due && pace.untilTime(work.due)) || 0
  const dueIn = untilDue > 0 ? untilDue : pauses.quiet
  const done = { ...nothing, settled: all, isNews, isFull, isIdle, dueIn }
  const untilBlock = isBlockwise ? pace.untilBlock(isReplaced) : undefined
  if (untilBlock && news === never && waitsForBlock(submitter, view))
    return { ...done, next: untilBlock, rest: 'block' }
  const soonest = isReplaced ? Math.min(news, soon) : news
  const next = Math.min(soonest, soon * 2 ** pace.idle, pauses.interval)
  return { ...done, next }
}

function oldHeadError({ number, timestamp }: SubmitterView['head']): Error {
  return new NodeAnswerError({
    method: 'eth_getBlockByNumber',
    problem: `names ${number} as latest block, whose time ${timestamp} is long before that of blocks seen before: the node may be restored to an older state`,
  })
}

/**
 * True when nothing can happen to our transactions in flight before the next
 * block.
 */
function waitsForBlock(
  submitter: SubmitterState,
  { count, isEarly }: SubmitterView,
): boolean {
  const { inFlight, aside } = submitter
  // A wallet that answered no hash may have sent nothing: search as before.
  const isWaiting =
    inFlight.rows.length > 0 &&
    inFlight.rows.every(({ nonce, hash }) => nonce >= count && hash)
  return isWaiting && !isEarly && aside.size() === 0 && choosesNonce(submitter)
}

/**
 * Milliseconds until there is work on the chain; 0 if there is some now. If an
 * order is due later, polls the chain from time to time, because its clock may
 * not run like ours.
 */
function untilWork(
  { headAge, untilTime }: SubmitterState['pace'],
  { isBusy, due }: Awaited<ReturnType<typeof findWork>>,
  { interval, quiet }: SubmitterPauses,
): number {
  if (isBusy) return 0
  if (due === undefined) return never
  const time = untilTime(due) ?? 0
  if (quiet <= interval || headAge >= quiet || time <= interval) return 0
  return Math.min(time - interval, quiet - headAge)
}

type SentDue = {
  sent: number
  refused: number
  /** Milliseconds until sending may succeed again. */
  next: number
  /**
   * The submitter's state on the chain. It is requested while the last of many
   * transactions are signed.
   */
  looked?: Promise<SubmitterView | undefined> | undefined
}

/** Most transactions to sign before they are sent, if each has one payment. */
const chunkSize = 100

/**
 * Sends orders that are due, the soonest deadline first. Simulates them in
 * groups, and signs, stores and sends the first ones while the next are
 * simulated. With many transactions in flight, returns before the node answers;
 * `broadcasts.answered` resolves when it has.
 */
async function sendDue(
  context: OrdersContext,
  submitter: SubmitterState,
  view: SubmitterView,
): Promise<SentDue> {
  const { policy } = context
  const done: SentDue = { sent: 0, refused: 0, next: never }
  const { timestamp: now } = view.head
  const room = roomOf(submitter, policy)
  if (room === 0 || submitter.walletMemory.isResting('order')) return done
  const most = Math.min(room * reachOf(context, submitter, room), mostDue)
  const storedOrders = await findDue(context, submitter, { until: now, most })
  if (storedOrders.length === 0) {
    await endSending(submitter)
    return done
  }
  // Asked now, so that both go in the same request. A failure is handled below.
  view.costs().catch(() => undefined)
  if (!(await continueNonces(context, submitter, view))) return done
  submitter.joins.prolong(storedOrders.map(({ order }) => order.id))
  const costs = await view.costs()
  const fees = feesOf(view, costs)
  const { open: all, refusals } = sortDue(storedOrders, view, policy)
  const open = fitInto(context, submitter, room, all)
  const batch = askForBatch(context, submitter, open)
  const taken = takeRehearsed(context, open, { head: view.head, fees })
  // The permission of a capture key may have ended since.
  const { drafts: ready, others } = submitter.wallet.key
    ? { drafts: [], others: open }
    : taken
  let payerCheck: PayerCheck | undefined
  const sendReady = async (isLast: boolean) => {
    // While more drafts may come, sign only full chunks.
    const size = Math.max(chunkSize, policy.maxBatch)
    while (ready.length >= (isLast ? 1 : size)) {
      const chunk = ready.splice(0, size)
      // The node is idle while we sign, so request the submitter's state now.
      // If that fails, the next poll requests it again.
      if (isLast && ready.length === 0 && isMany(submitter))
        done.looked = getSubmitterView(context, submitter, {
          isSending: false,
        }).catch(() => undefined)
      const answer = await batch
      payerCheck ??= openPayerCheck(
        submitter,
        open.filter(({ order }) => answer.orderIds.has(order.id)),
      )
      done.sent += await sendDrafts(context, submitter, view, {
        drafts: chunk,
        batch: answer,
        payerCheck,
        costs,
        fees,
      })
    }
  }
  try {
    const groups = rehearseGroups(context, submitter, others, fees)
    for await (const { drafts, refused, isLast } of groups) {
      addAll(refusals, refused)
      addAll(ready, drafts)
      await sendReady(isLast)
    }
    await sendReady(true)
    // Do not store the refusal of a capture in `joins`, because its caller
    // requests it again itself.
    const certain = refusals.filter(
      (refusal) =>
        isCertain(submitter, refusal) &&
        !submitter.joins.has(refusal.stored.order.id),
    )
    // A refusal that may be temporary is stored only if the next poll finds it
    // too. So poll again at once.
    if (certain.length < refusals.length) done.next = 0
    done.refused = certain.length
    await refuseDue(context, submitter, certain, now)
  } finally {
    await endSending(submitter)
  }
  if (done.sent + done.refused === 0) return done
  const isCut = storedOrders.length === most || open.length < all.length
  const isMore = isCut && roomOf(submitter, policy) > 0
  done.next = isMore ? 0 : Math.min(done.next, soonAfter(submitter))
  return done
}

/**
 * Waits a moment for the node's answers, unless many transactions are in
 * flight.
 */
async function endSending(submitter: SubmitterState): Promise<void> {
  submitter.orders.forgetDue()
  submitter.openings.endLook()
  if (!isMany(submitter)) await submitter.broadcasts.answered()
}

/**
 * Stores and sends as many drafts as the account can pay gas for. Does not wait
 * for the node's answers, so that the caller can sign the next drafts
 * meanwhile.
 *
 * @returns number of transactions sent.
 */
async function sendDrafts(
  context: OrdersContext,
  submitter: SubmitterState,
  view: SubmitterView,
  {
    drafts,
    batch,
    payerCheck,
    costs,
    fees,
  }: {
    drafts: readonly DueDraft[]
    batch: BatchAnswer
    payerCheck: PayerCheck
    costs: SendingCosts
    fees: SubmitterFees
  },
): Promise<number> {
  const { account, submitter: attributes } = submitter.wallet
  const gasLeft = gasLeftOf(submitter, costs, fees)
  const planned = planTransactions(context, submitter, drafts, {
    batch,
    gasLeft,
  })
  submitter.batches.notePlan(drafts.length, planned.length)
  const room = roomOf(submitter, context.policy)
  const due = planned.slice(0, room)
  const gas = due.map((one) => one.gas)
  const paid = canPay(gas, gasLeft)
  if (paid < due.length)
    context.observe({
      name: 'submitter.waits',
      attributes: { ...attributes, reason: 'insufficientFunds' },
    })
  const sendable = due.slice(0, paid)
  if (account.type !== 'local')
    return sendByWallet(
      context,
      submitter,
      sendable.flatMap((one) => one.drafts),
      fees,
    )
  await keepSubmitter(submitter)
  submitter.joins.prolong(idsOf(sendable))
  const recorded = await signAndRecord(context, submitter, sendable, {
    payerCheck,
    fees,
    now: view.head.timestamp,
  })
  sendRecorded(context, submitter, view, recorded)
  // Signing the next drafts blocks the event loop, so let these requests be
  // sent first.
  await nextTurn()
  return recorded.length
}

/**
 * Most rounds of signing and storing. Each round after the first takes the
 * drafts that the last round could not store.
 */
const mostRounds = 5

/**
 * Signs transactions and stores them before any is sent. Leaves out orders that
 * changed meanwhile or whose transaction was not signed.
 * @returns the bytes of stored transactions that may be sent.
 */
async function signAndRecord(
  context: OrdersContext,
  submitter: SubmitterState,
  due: readonly DueTransaction[],
  {
    payerCheck,
    ...options
  }: { payerCheck: PayerCheck; fees: SubmitterFees; now: bigint },
): Promise<readonly SignedBytes[]> {
  const bytes: SignedBytes[] = []
  let left: DueLeft = { due, bumps: [] }
  for (let round = 1; left.due.length > 0 && round <= mostRounds; round++) {
    const [drafted, changed] = await Promise.all([
      signDrafts(context, submitter, left, options),
      payerCheck.find(left.due),
    ])
    const signed = withdrawSigned(submitter, drafted, changed)
    const isLast = round === mostRounds
    const written = await recordSigned(context, submitter, signed, isLast)
    addAll(bytes, written.recorded)
    left = written.left
  }
  return bytes
}

/**
 * Runs the steps of a poll. If a node or signer fails in one step, that step
 * pauses for a while and the other steps continue.
 */
function openSteps({ aside }: SubmitterState) {
  return async <result>(
    name: string,
    work: () => Promise<result>,
  ): Promise<result | undefined> => {
    if (aside.isWaiting(name)) return undefined
    try {
      const result = await work()
      aside.clear(name)
      return result
    } catch (error) {
      putAside(aside, name, error)
      return undefined
    }
  }
}
