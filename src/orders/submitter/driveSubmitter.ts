import { startLoop } from '../../core/loop.js'
import { observeFailure } from '../../core/observeFailure.js'
import { onAbort } from '../../core/onAbort.js'
import { type LoopState, working } from '../../core/untilIdle.js'
import { LeaseLostError } from '../../store/errors.js'
import {
  claimSubmitter,
  dropClaims,
  isClaimed,
  longestTurn,
  openSubmitter,
} from '../account/openSubmitter.js'
import type { SubmitterState } from '../account/submitterState.js'
import type { OrdersContext, OrderWallet } from '../context/types.js'
import { endingContext, finishOnTime } from '../loop/endingContext.js'
import type { TaskName } from '../loop/putAside.js'
import { quietIntervalOf } from '../model/quietIntervalOf.js'
import { hasDue } from '../sending/findDue.js'
import type { Driver, SharedByDrivers } from './driver.js'
import {
  type SubmitterLook,
  type SubmitterPauses,
  workSubmitter,
} from './workSubmitter.js'

/**
 * True while the submitter's loop is needed: a worker runs it (`holdDriver`),
 * `keepDriver` keeps it, or a caller waits for an order of this submitter.
 */
export function isWanted(
  { stopping, waits }: SharedByDrivers,
  { wallet, holders, keptUntil, joins }: Driver,
): boolean {
  const isKept = performance.now() < keptUntil
  const isAwaited = joins.isAwaited || waits.count(wallet.submitter) > 0
  return !stopping.aborted && (holders > 0 || isKept || isAwaited)
}

/**
 * Starts the loop of a submitter, or wakes it. The loop polls the chain at
 * once, and continues while `isWanted`.
 */
export function startDriver(shared: SharedByDrivers, driver: Driver): void {
  driver.isCalled = true
  if (!driver.running) drive(shared, driver)
  driver.running?.wake()
}

/**
 * Makes the submitter poll again because the store changed, unless its next
 * poll comes soon anyway.
 *
 * @param by key of the lease under which this process wrote the change, if any.
 * A submitter ignores what it wrote itself.
 */
export function noticeChange(driver: Driver, by: string | undefined): void {
  if (by !== undefined && by === driver.kept?.held?.key) return
  driver.isCalm = false
  driver.isChanged = true
  if (driver.rest) driver.running?.wake()
}

/** Keeps the submitter's loop running until the signal aborts. */
export async function holdDriver(
  shared: SharedByDrivers,
  driver: Driver,
  {
    signal,
    limit,
    isReady,
  }: { signal: AbortSignal } & Pick<Driver, 'limit' | 'isReady'>,
): Promise<void> {
  driver.limit = limit
  driver.isReady = isReady
  driver.holders++
  startDriver(shared, driver)
  await new Promise<void>((resolve) => onAbort(signal, resolve))
  driver.holders--
  if (!isWanted(shared, driver)) await finishDriver(shared, driver)
}

/**
 * Keeps the submitter's loop running for a while. While it holds the
 * submitter's lease, it sends all due orders, including those that other
 * processes accepted.
 */
export function keepDriver(
  shared: SharedByDrivers,
  driver: Driver,
  milliseconds: number,
): void {
  driver.keptUntil = performance.now() + milliseconds
  if (!driver.running) startDriver(shared, driver)
}

/**
 * Waits until the loop ends, if nobody needs it any more. Aborts its requests
 * to nodes if they take too long, unless someone needs the loop again by then.
 */
export async function finishDriver(
  shared: SharedByDrivers,
  driver: Driver,
): Promise<void> {
  const { running } = driver
  running?.wake()
  if (!running) return
  await finishOnTime(running.ended, () => {
    if (!isWanted(shared, driver)) running.letGo()
  })
}

/**
 * Name under which the list of failures has a failure of the whole submitter.
 */
const wholeSubmitter: TaskName = 'submitter'

/**
 * Milliseconds between two tries to take a lease that another process holds.
 */
const takeEvery = 250

function drive(shared: SharedByDrivers, driver: Driver): void {
  const letGo = new AbortController()
  const own = {
    ...shared,
    context: endingContext(shared.context, letGo.signal),
  }
  const untilOver = (next: number) => Math.min(next, restOf(own, driver))
  const loop = startLoop(
    {
      // First wait until a slot for concurrent work is free. A lease that was
      // taken before could expire during that wait.
      limit: (work) => driver.limit(work),
      look: async () => {
        driver.rest = undefined
        driver.isIdle = false
        driver.isCalled = false
        driver.isChanged = false
        const endLook = driver.joins.startLook()
        try {
          return untilOver(await look(own, driver))
        } finally {
          endLook()
        }
      },
      failed: async (error) => untilOver(await recover(own, driver, error)),
      woken: async () => ((await isLookDue(own, driver)) ? 0 : never),
      isOver: () => !isWanted(own, driver) && untilAnswers(driver) === 0,
      lease: {
        every: own.context.policy.lease / 3,
        prolong: async () => driver.kept?.prolong(),
      },
    },
    letGo.signal,
  )
  const end = async (): Promise<void> => {
    await loop.ended.catch((error: unknown) => {
      const about = driver.wallet.submitter
      observeFailure(own.context, 'submitter.failed', { about, error })
    })
    await leave(driver)
    // Abort the requests that a poll started without waiting for them.
    letGo.abort()
    driver.running = undefined
    // Someone may need the loop again since it released the lease.
    if (isWanted(shared, driver)) startDriver(shared, driver)
  }
  const { wake, nextLook } = loop
  driver.running = { wake, nextLook, ended: end(), letGo: () => letGo.abort() }
}

const never = Number.POSITIVE_INFINITY

/**
 * True when the submitter must poll before its pause is over. If it only waits
 * for the next block, asks the store alone whether an order is due now.
 */
async function isLookDue(
  { context }: SharedByDrivers,
  { isCalled, rest, submitter }: Driver,
): Promise<boolean> {
  if (isCalled || rest !== 'block' || !submitter) return true
  return hasDue(context, submitter)
}

/**
 * Milliseconds for which the loop goes on after it sent transactions, so that
 * the node can take them: the end of the loop aborts its requests.
 */
const lastSends = 1000

/**
 * Milliseconds for which the loop must still wait for answers. It waits for a
 * wallet without a limit, because only the holder of the lease can store its
 * answer, and for a node until {@link lastSends} are over.
 */
function untilAnswers({ submitter, walletAsk, kept }: Driver): number {
  if (walletAsk.row && kept) return never
  return submitter?.broadcasts.untilOlder(lastSends) ?? 0
}

/** Says when the submitter has work next. */
export function stateOfDriver(
  { policy }: Pick<OrdersContext, 'policy'>,
  driver: Driver,
): LoopState {
  const nextLook = driver.running?.nextLook() ?? 0
  if (nextLook === 0 || untilAnswers(driver) > 0) return working
  // Another process has the lease and does the work, or it died.
  if (driver.denied > 0)
    return { nextLook: performance.now() + policy.lease, isIdle: true }
  const { dueAt } = driver
  const isIdle = driver.isIdle && !driver.aside.isTrying()
  return { nextLook: isIdle ? dueAt : nextLook, isIdle }
}

/** Milliseconds until the loop may end, unless a caller needs it longer. */
function restOf({ waits }: SharedByDrivers, driver: Driver): number {
  const { wallet, holders, keptUntil, joins } = driver
  const isAwaited = joins.isAwaited || waits.count(wallet.submitter) > 0
  if (holders > 0 || isAwaited) return never
  return Math.max(untilAnswers(driver), keptUntil - performance.now())
}

/**
 * Polls the chain and does the submitter's work once.
 * @returns milliseconds until the next poll.
 */
async function look(own: SharedByDrivers, driver: Driver): Promise<number> {
  const { context, waits } = own
  const looked = await takeTurn(own, driver)
  const { settled = [], isNews = true, next = takeEvery } = looked ?? {}
  const isIdle = looked?.rest === 'idle'
  const longest = isIdle ? idlePauseOf(own, driver, looked) : next
  const pause = Math.min(next, longest)
  // No event reports that sending is allowed again after `suspend`, so keep
  // polling.
  driver.isCalm = isIdle && !driver.isChanged && !looked.isSuspended
  driver.rest = looked?.rest
  driver.isIdle = looked?.isIdle === true
  driver.dueAt = performance.now() + (looked?.dueIn ?? 0)
  // The store changed during this poll, so poll again at once.
  if (driver.rest && driver.isChanged) driver.running?.wake()
  if (looked) driver.aside.clear(wholeSubmitter)
  await driver.aside.save(driver.kept?.held)
  await waits.report(driver.wallet.submitter, { settled, isNews })
  if (!looked?.isClaimed || !mayYield(context, driver, looked)) return pause
  await yieldSubmitter(context, driver)
  return takeEvery
}

/**
 * Milliseconds between two polls if the store cannot report changes
 * (`onChange`).
 */
const askEvery = 1000

/**
 * Number of quiet intervals between two polls of an idle submitter. The store
 * reports changes by itself; these polls find any that it missed.
 */
const idleQuiets = 4

/**
 * Most milliseconds until the next poll of an idle submitter. Even if the store
 * reports changes, long pauses begin only after a second poll without news:
 * between the two, another shop may have asked for the submitter.
 */
function idlePauseOf(
  { context: { store } }: SharedByDrivers,
  { isCalm }: Driver,
  { interval, quiet, isSuspended }: OwnLook,
): number {
  if (!store.onChange) return Math.min(interval, askEvery)
  if (!isCalm || isSuspended || quiet <= interval) return interval
  return idleQuiets * quiet
}

/**
 * Drops the state in memory after a failed poll, so that the next poll loads it
 * from the store. If another process waits for the submitter, releases the
 * lease, because that process may succeed.
 *
 * @returns milliseconds until the next poll.
 */
async function recover(
  { context }: SharedByDrivers,
  driver: Driver,
  error: unknown,
): Promise<number> {
  const { aside } = driver
  await driver.submitter?.broadcasts.answered()
  driver.submitter = undefined
  let next = aside.put(wholeSubmitter, error)
  if (error instanceof LeaseLostError) {
    driver.kept = undefined
    next = takeEvery
    aside.clearAll()
  }
  await aside.save(driver.kept?.held).catch(() => undefined)
  await yieldIfClaimed(context, driver).catch(() => undefined)
  return next
}

type OwnLook = SubmitterLook & SubmitterPauses

/**
 * Does the submitter's work once. Returns `undefined` while another process
 * holds the lease, or shortly after this process released it for another.
 */
async function takeTurn(
  own: SharedByDrivers,
  driver: Driver,
): Promise<OwnLook | undefined> {
  const { context, waits } = own
  const { submitter: before, aside, joins, walletAsk } = driver
  if (performance.now() < driver.notBefore) return undefined
  await context.shop.refresh()
  const wallet = findWallet(context, driver.wallet)
  const submitter = await openSubmitter(context, {
    wallet,
    submitter: before,
    aside,
    joins,
    walletAsk,
  })
  if (submitter !== before) await before?.broadcasts.answered()
  driver.submitter = submitter
  driver.kept = submitter?.kept
  if (submitter !== before) driver.takenAt = performance.now()
  if (!submitter) {
    // Asking the holder to release the lease costs a few reads of the store, so
    // do it only at every fourth failed try.
    const isTime = driver.denied++ % 4 === 1
    if (isTime) await claimSubmitter(context, wallet).catch(() => undefined)
    return undefined
  }
  driver.denied = 0
  const isAwaited = joins.isAwaited || waits.count(wallet.submitter) > 0
  const ready = context.recipients.filter(driver.isReady)
  submitter.orders.sendFor(isAwaited ? context.recipients : ready)
  const work = async () => {
    const pauses = pausesOf(own, submitter)
    const looked = await workSubmitter(context, submitter, pauses)
    return { ...looked, ...pauses }
  }
  return submitter.kept.during(work, { most: longestTurn(context, submitter) })
}

/**
 * Finds the same wallet in this context. When the context ends, it aborts the
 * wallet's requests.
 */
function findWallet({ wallets }: OrdersContext, known: OrderWallet) {
  const found = wallets.find(({ submitter }) => submitter === known.submitter)
  return found ?? known
}

/** Milliseconds between two polls until the chain's own interval is known. */
const usualInterval = 1000

function pausesOf(
  { context: { policy }, networks }: SharedByDrivers,
  { wallet, pace, reader }: SubmitterState,
): SubmitterPauses {
  const { chainId } = wallet.submitter
  // Detecting the kind of network takes a few requests, so wait until the
  // result may save some.
  const isWorthIt =
    pace.untilBlock() !== undefined ||
    (pace.idle >= 5 && policy.pollingInterval === undefined)
  const network = isWorthIt
    ? networks.find(chainId, reader)
    : networks.known(chainId)
  const interval =
    policy.pollingInterval ?? network?.pollingInterval ?? usualInterval
  return {
    interval,
    quiet: quietIntervalOf(policy, { chainId, interval }),
    isBlockwise: network?.kind === 'none',
  }
}

/**
 * True when all due orders were sent, or when this process has held the lease
 * for so long that another one should get it.
 */
function mayYield(
  { policy }: OrdersContext,
  { takenAt }: Driver,
  { isFull }: SubmitterLook,
): boolean {
  const longest = Math.max(policy.lease, 2000 * policy.bumpAfter)
  return !isFull || performance.now() - takenAt > longest
}

/**
 * Releases the lease for processes that asked for it. The next holder settles
 * the transactions in flight. Keeps the lease while a wallet has not answered.
 */
async function yieldSubmitter(
  context: OrdersContext,
  driver: Driver,
): Promise<void> {
  const { kept, wallet, walletAsk } = driver
  if (walletAsk.row) return
  // Leave the other processes time to take the lease, even if this loop is
  // woken early.
  driver.notBefore = performance.now() + 2 * takeEvery
  const lease = kept?.held
  if (lease) await dropClaims(context, { lease, wallet })
  await leave(driver)
}

async function yieldIfClaimed(
  context: OrdersContext,
  driver: Driver,
): Promise<void> {
  const { submitter } = driver.wallet
  if (!driver.kept?.held) return
  const isWaitedFor = await context.store.read((tables) =>
    isClaimed(tables, context, submitter),
  )
  if (isWaitedFor) await yieldSubmitter(context, driver)
}

/** Releases the submitter's lease, so that another process can take it. */
async function leave(driver: Driver): Promise<void> {
  const { kept } = driver
  driver.submitter = undefined
  driver.kept = undefined
  await kept?.release()
}
