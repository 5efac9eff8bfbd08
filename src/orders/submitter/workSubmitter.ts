import { checkChain } from '../../chain/state/checkChain.js'
import type { SendingCosts } from '../../chain/state/getSubmitterHead.js'
import { addAll } from '../../core/addAll.js'
import { nextTurn } from '../../core/wait.js'
import { retryStale } from '../../store/writeAgain.js'
import { putAside } from '../loop/putAside.js'
import type { StoredOrder } from '../model/storedOrder.js'
import type { OrdersContext } from '../model/types.js'
import { continueNonces } from './continueNonces.js'
import { feesOf, type SubmitterFees } from './feesOf.js'
import {
  adoptOrders,
  findDue,
  findWork,
  mostDue,
  type PeekedDue,
  peekDue,
} from './findDue.js'
import {
  getSubmitterView,
  isMany,
  type SubmitterView,
} from './getSubmitterView.js'
import { keepSubmitter } from './openSubmitter.js'
import { canPay, roomOf } from './planSending.js'
import { recordSigned } from './recordSigned.js'
import { isCertain, refuseDue } from './refuseDue.js'
import { type DueDraft, rehearseGroups } from './rehearseDue.js'
import { replaceTransactions } from './replaceTransactions.js'
import { reportPreconfirmed } from './reportPreconfirmed.js'
import { resendTransactions } from './resendTransactions.js'
import { sendByWallet } from './sendByWallet.js'
import { sendRecorded } from './sendRecorded.js'
import { settleTransactions } from './settleTransactions.js'
import { type DraftsLeft, type SignedBytes, signDrafts } from './signDrafts.js'
import { sortDue } from './sortDue.js'
import { choosesNonce, type SubmitterState } from './submitterState.js'
import { takeRehearsed } from './takeRehearsed.js'
import { watchWallet } from './watchWallet.js'

/*
 * The path of a capture. `orders.capture` writes the request
 * (`requestCaptures`): from then on the order is due. The engine
 * (`createSubmitterEngine`) starts the loop of the order's submitter
 * (`startDriver`) or wakes it. At each look, the loop takes the lease or keeps
 * it (`openSubmitter`) and calls `workSubmitter`, which
 *
 *  1. `getSubmitterView`     looks at the chain,
 *  2. `settleTransactions`   saves what the chain decided,
 *  3. `replaceTransactions`  replaces stuck or late transactions,
 *  4. `resendTransactions`   sends again those the node lost,
 *
 * and then, in `sendDue`, sends due orders:
 *
 *  5. `findDue`              finds the orders, and the joined captures,
 *  6. `continueNonces`       sets the next account nonce,
 *  7. `sortDue`              sets apart those to refuse by their record,
 *  8. `rehearseGroups`       rehearses the calls of the others, group by group,
 *                            except those just rehearsed when accepted;
 *
 * for each chunk of drafts, in `sendDrafts`:
 *
 *  9. `canPay`               keeps as many as the account can pay for,
 * 10. `signDrafts`           signs and seals the transactions,
 * 11. `recordSigned`         records them; their orders are `capturing`; writes
 *                            what is joined with them,
 * 12. `sendRecorded`         sends them (`eth_sendRawTransaction`);
 *
 * and finally
 *
 * 13. `refuseDue`            saves why the refused ones are not sent.
 *
 * `signAndRecord` repeats 10 and 11 for what is left when an order changed in
 * between or a nonce was taken, at most `mostRounds` times. A wallet that signs
 * and sends itself does 10 to 12 in `sendByWallet`.
 */

export type SubmitterLook = {
  /** Orders that the chain decided, as they were written. */
  settled: readonly StoredOrder[]
  /** True when this look wrote something else that a caller may wait for. */
  isNews: boolean
  /** True when the merchant or a restore has suspended all sending. */
  isSuspended: boolean
  /** True when someone whose orders we do not send waits for the submitter. */
  isClaimed: boolean
  /** True when no room was left, so that orders may still be due. */
  isFull: boolean
  /**
   * Milliseconds until the next look makes sense; `Infinity` when nothing is in
   * flight or due.
   */
  next: number
  /**
   * What may end that pause early. `idle`: any change of the store, because
   * nothing is in flight. `block`: an order that is due now.
   */
  rest: 'idle' | 'block' | undefined
}

/** How often to look at a submitter, in milliseconds. */
export type SubmitterPauses = {
  /** Between two looks while something is in flight or due. */
  interval: number
  /** Between two looks at the chain while orders are due later. */
  quiet: number
  /** True on a chain that shows nothing new between two blocks. */
  isBlockwise: boolean
}

/** Milliseconds of a step that does not want to run again by itself. */
const never = Number.POSITIVE_INFINITY

/**
 * Milliseconds until the first look after something was sent or settled. With
 * many transactions in flight, news comes slowly, and each look costs requests.
 */
const soonAfter = (submitter: SubmitterState): number =>
  isMany(submitter) ? 16 : 8

/**
 * Does all current work of a submitter, under its lease: settles what the chain
 * decided, replaces stuck transactions, sends lost ones again, and sends due
 * orders.
 *
 * @throws {@link LeaseLostError} when the lease was lost; then the caller must
 * drop the state.
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
  }
  const idle = isSuspended ? never : untilWork(pace, work, pauses)
  if (idle > 0) {
    pace.rememberIdle(0)
    submitter.openings.endLook()
    return { ...nothing, next: idle, rest: 'idle' }
  }
  pace.startLook()
  const isSending = work.due !== undefined || submitter.joins.isAwaited
  const looking = getSubmitterView(context, submitter, isSending)
  const peeking = work.isMuch ? peekDue(context, submitter) : undefined
  const view = await looking.finally(() => peeking)
  const now = context.now() / 1000n
  if (pace.isFarAhead(view.head, now))
    await checkChain(submitter.reader, submitter.wallet.submitter.chainId)
  if (!pace.believeHead(view.head, now))
    return { ...nothing, next: pauses.interval }
  const step = openSteps(submitter)
  await step('wallet', () => watchWallet(context, submitter, view))
  const settle = (shown: SubmitterView) =>
    step('settling', () =>
      retryStale(() => settleTransactions(context, submitter, shown)),
    )
  const settled = await settle(view)
  const shown = await step('preconfirmations', () =>
    retryStale(() => reportPreconfirmed(context, submitter, view)),
  )
  // What we send from here on depends on these answers.
  await broadcasts.sending
  const replaced = await step('replacements', () =>
    retryStale(() => replaceTransactions(context, submitter, view)),
  )
  await step('resending', () => resendTransactions(context, submitter, view))
  const isFull = roomOf(submitter, context.policy) === 0
  const peeked = await peeking
  const sent = await step('sending', () =>
    sendDue(context, submitter, view, peeked),
  )
  const looked = await sent?.looked
  const first = looked && (await settle(looked))
  pace.rememberQuick(first !== undefined)
  // Wait until the node has all transactions. The next look shows the mined
  // ones.
  if (pace.isQuick) await broadcasts.sending
  // A node that had no room is offered a little more each time.
  broadcasts.admitMore()
  const isNews = sent !== undefined && sent.refused > 0
  const all = [...(settled ?? []), ...(shown ?? []), ...(first ?? [])]
  pace.rememberMined({ sent: (sent?.sent ?? 0) > 0, settled: !!settled })
  const soon = soonAfter(submitter)
  const soonest = Math.min(
    settled || replaced ? soon : never,
    sent?.next ?? never,
    pace.isQuick || pace.expectsMined ? 0 : never,
  )
  pace.rememberIdle(soonest < never ? 0 : pace.idle + 1)
  const done = { ...nothing, settled: all, isNews, isFull }
  const untilBlock = pauses.isBlockwise ? pace.untilBlock : undefined
  if (untilBlock && soonest === never && waitsForBlock(submitter, view))
    return { ...done, next: untilBlock, rest: 'block' }
  const next = Math.min(soonest, soon * 2 ** pace.idle, pauses.interval)
  return { ...done, next }
}

/** True when only a new block can show news of what is in flight. */
function waitsForBlock(
  submitter: SubmitterState,
  { count, isEarly }: SubmitterView,
): boolean {
  const { inFlight, aside } = submitter
  const isWaiting =
    inFlight.rows.length > 0 && inFlight.rows.every((row) => row.nonce >= count)
  return isWaiting && !isEarly && aside.size() === 0 && choosesNonce(submitter)
}

/**
 * Milliseconds until there is something to do at the chain; 0 for now. If an
 * order is due later, looks at the chain from time to time, because its clock
 * need not run like ours.
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
  /** Milliseconds until the next try makes sense. */
  next: number
  /** A look at the chain while the last of many transactions are signed. */
  looked?: Promise<SubmitterView | undefined> | undefined
}

/** Most transactions to sign before they are sent. */
const chunkSize = 100

/**
 * Sends orders that are due, the soonest deadline first: rehearses them, and
 * signs, records and sends the first ones while the next are rehearsed. If many
 * are in flight, it does not wait for the node's answers: they are in
 * `broadcasts.sending`.
 */
async function sendDue(
  context: OrdersContext,
  submitter: SubmitterState,
  view: SubmitterView,
  peeked: PeekedDue | undefined,
): Promise<SentDue> {
  const { policy } = context
  const done: SentDue = { sent: 0, refused: 0, next: never }
  const { timestamp: now } = view.head
  const most = Math.min(roomOf(submitter, policy), mostDue)
  if (most === 0 || submitter.walletMemory.isResting('order')) return done
  const storedOrders = await findDue(context, submitter, {
    until: now,
    most,
    peeked,
  })
  if (storedOrders.length === 0) {
    await endSending(submitter, [])
    return done
  }
  if (!(await continueNonces(context, submitter, view))) return done
  submitter.joins.prolong(storedOrders.map(({ order }) => order.id))
  const costs = await view.costs()
  const fees = feesOf(view, costs)
  const { open, refusals } = sortDue(storedOrders, view, policy)
  const { drafts: ready, others } = takeRehearsed(context, open, {
    head: view.head,
    fees,
  })
  const sends: Promise<void>[] = []
  const sendReady = async (isLast: boolean) => {
    // Wait for a full chunk while more drafts may come.
    while (ready.length >= (isLast ? 1 : chunkSize)) {
      const chunk = ready.splice(0, chunkSize)
      // The node is idle now, so look early. If this look fails, the next one
      // tries again.
      if (isLast && ready.length === 0 && isMany(submitter))
        done.looked = getSubmitterView(context, submitter, false).catch(
          () => undefined,
        )
      done.sent += await sendDrafts(context, submitter, view, {
        drafts: chunk,
        costs,
        fees,
        sends,
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
    // The callers of joined captures request them again by themselves.
    const certain = refusals.filter(
      (refusal) =>
        isCertain(submitter, refusal) &&
        !submitter.joins.has(refusal.stored.order.id),
    )
    // The next look judges the others again before they are refused.
    if (certain.length < refusals.length) done.next = 0
    done.refused = certain.length
    await refuseDue(context, submitter, certain, now)
  } finally {
    await endSending(submitter, sends)
  }
  if (done.sent + done.refused === 0) return done
  const isMore = storedOrders.length === most && roomOf(submitter, policy) > 0
  done.next = isMore ? 0 : Math.min(done.next, soonAfter(submitter))
  return done
}

/** Waits for the answers to `sends`, unless many transactions are in flight. */
async function endSending(
  submitter: SubmitterState,
  sends: readonly Promise<void>[],
): Promise<void> {
  submitter.broadcasts.handOver(sends)
  submitter.orders.forgetDue()
  submitter.openings.endLook()
  if (!isMany(submitter)) await submitter.broadcasts.sending
}

/**
 * Records and sends as many drafts as the account can pay for. Adds unanswered
 * requests to `sends`, so that the next drafts can be signed meanwhile.
 *
 * @returns number of transactions sent.
 */
async function sendDrafts(
  context: OrdersContext,
  submitter: SubmitterState,
  view: SubmitterView,
  {
    drafts,
    costs,
    fees,
    sends,
  }: {
    drafts: readonly DueDraft[]
    costs: SendingCosts
    fees: SubmitterFees
    sends: Promise<void>[]
  },
): Promise<number> {
  const { account, submitter: attributes } = submitter.wallet
  const gas = drafts.map((draft) => draft.gas)
  const paid = canPay(submitter, costs, gas, fees)
  if (paid < drafts.length)
    context.observe({
      name: 'submitter.waits',
      attributes: { ...attributes, reason: 'insufficientFunds' },
    })
  const sendable = drafts.slice(0, paid)
  if (account.type !== 'local')
    return sendByWallet(context, submitter, sendable, fees)
  await keepSubmitter(submitter)
  submitter.joins.prolong(sendable.map(({ stored }) => stored.order.id))
  const recorded = await signAndRecord(context, submitter, sendable, {
    fees,
    now: view.head.timestamp,
  })
  sends.push(sendRecorded(context, submitter, view, recorded))
  // Lets these requests leave before signing blocks the process.
  await nextTurn()
  return recorded.length
}

/** Most rounds of signing and writing for a chunk. */
const mostRounds = 5

/**
 * Signs transactions and records them before any is sent. Leaves out orders
 * that changed in between or whose transaction was not signed.
 *
 * @returns recorded bytes that may be sent.
 */
async function signAndRecord(
  context: OrdersContext,
  submitter: SubmitterState,
  drafts: readonly DueDraft[],
  options: { fees: SubmitterFees; now: bigint },
): Promise<readonly SignedBytes[]> {
  const bytes: SignedBytes[] = []
  let left: DraftsLeft = { drafts, bumps: [] }
  for (let round = 1; left.drafts.length > 0 && round <= mostRounds; round++) {
    const signed = await signDrafts(context, submitter, left, options)
    const isLast = round === mostRounds
    const written = await recordSigned(context, submitter, signed, isLast)
    addAll(bytes, written.recorded)
    left = written.left
  }
  return bytes
}

/**
 * Runs the steps of a look. If a node or signer fails in one step, the step is
 * put aside for a while and the others go on.
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
