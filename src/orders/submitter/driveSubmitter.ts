import { detectPreconfirmations } from '../../chain/state/detectPreconfirmations.js'
import { observeFailure } from '../../core/observeFailure.js'
import { onAbort } from '../../core/onAbort.js'
import { LeaseLostError } from '../../store/errors.js'
import {
  endingContext,
  lastAnswers,
  lastWrites,
} from '../loop/endingContext.js'
import { quietIntervalOf } from '../model/quietIntervalOf.js'
import type { OrdersContext, OrderWallet } from '../model/types.js'
import type { Driver, SharedByDrivers } from './driver.js'
import {
  claimSubmitter,
  dropClaims,
  holdSubmitter,
  isClaimed,
  keepSubmitter,
  openSubmitter,
} from './openSubmitter.js'
import type { SubmitterState } from './submitterState.js'
import { type SubmitterLook, workSubmitter } from './workSubmitter.js'

/**
 * True while the loop should go on: while a worker or `keepDriver` keeps it, or
 * a caller waits for an order.
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
 * Starts the loop or wakes it. The loop looks at once, and goes on while
 * `isWanted`.
 */
export function startDriver(shared: SharedByDrivers, driver: Driver): void {
  driver.pause.wake()
  driver.running ??= drive(shared, driver)
    .catch((error: unknown) =>
      observeFailure(shared.context, 'submitter.failed', {
        about: driver.wallet.submitter,
        error,
      }),
    )
    .finally(() => {
      driver.running = undefined
      // The driver may be wanted again since the loop released the lease.
      if (isWanted(shared, driver)) startDriver(shared, driver)
    })
}

/**
 * Makes the driver look again because the store changed.
 *
 * @param by the key of the lease under which this process changed it, if any:
 * what the driver wrote itself tells it nothing.
 */
export function noticeChange(driver: Driver, by: string | undefined): void {
  if (by !== undefined && by === driver.held?.key) return
  driver.isCalm = false
  if (driver.isIdle) driver.pause.wake()
  else driver.isChanged = true
}

/** Keeps the driver going until the signal aborts. */
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
 * Keeps the driver running for a while. It sends all due orders of the
 * submitter, also those that other processes accepted.
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
 * Waits until an unwanted loop ends. After `lastAnswers` it aborts the loop's
 * requests to nodes, or stops waiting if the loop is wanted again. Limits the
 * whole wait because a database may hang.
 */
export async function finishDriver(
  shared: SharedByDrivers,
  driver: Driver,
): Promise<void> {
  const { running, letGo } = driver
  driver.pause.wake()
  if (!running) return
  let late: ReturnType<typeof setTimeout> | undefined
  let last: ReturnType<typeof setTimeout> | undefined
  await new Promise<void>((resolve) => {
    late = setTimeout(() => {
      if (isWanted(shared, driver)) resolve()
      else letGo.abort()
    }, lastAnswers)
    last = setTimeout(resolve, lastAnswers + lastWrites)
    running.finally(resolve)
  })
  clearTimeout(late)
  clearTimeout(last)
}

const wholeSubmitter = 'submitter'

/**
 * Milliseconds between two tries to take a lease that another process holds.
 */
const takeEvery = 250

async function drive(shared: SharedByDrivers, driver: Driver): Promise<void> {
  driver.letGo = new AbortController()
  const { signal } = driver.letGo
  const context = endingContext(shared.context, signal)
  const wallet = context.wallets.find(
    ({ submitter }) => submitter === driver.wallet.submitter,
  )
  if (!wallet) return
  while (isWanted(shared, driver) && !signal.aborted) {
    driver.isIdle = false
    driver.isChanged = false
    const endLook = driver.joins.startLook()
    const looking = look({ ...shared, context }, driver, wallet, shared.context)
    const next = await looking.catch((error: unknown) =>
      recover(shared, driver, error),
    )
    endLook()
    if (isWanted(shared, driver))
      await rest(shared, driver, Math.min(next, restOf(shared, driver)))
  }
  await leave(shared.context, driver)
  // Aborts requests that a look started and did not wait for.
  driver.letGo.abort()
}

/** Waits until the next look, and prolongs the lease in a long pause. */
async function rest(
  { context }: SharedByDrivers,
  driver: Driver,
  milliseconds: number,
): Promise<void> {
  const until = performance.now() + milliseconds
  for (;;) {
    const left = Math.max(0, until - performance.now())
    const step = context.policy.lease / 3
    const isWoken = await driver.pause.wait(Math.min(left, step))
    const { submitter } = driver
    if (isWoken || left <= step || !submitter) return
    // If the lease is lost, or the database fails, the next look reports it.
    await keepSubmitter(context, submitter).catch(() => undefined)
  }
}

/** Milliseconds until the loop may end, unless a caller extends it. */
function restOf({ waits }: SharedByDrivers, driver: Driver): number {
  const { wallet, holders, keptUntil, joins } = driver
  const isAwaited = joins.isAwaited || waits.count(wallet.submitter) > 0
  if (holders > 0 || isAwaited) return Number.POSITIVE_INFINITY
  return Math.max(0, keptUntil - performance.now())
}

/**
 * Looks at the submitter once, as soon as `limit` has a free place.
 *
 * @returns milliseconds until the next look.
 */
async function look(
  own: SharedByDrivers,
  driver: Driver,
  wallet: OrderWallet,
  context: OrdersContext,
): Promise<number> {
  // Take the lease only when there is a place: it could expire while we wait.
  const looked = await driver.limit(() => takeTurn(own, driver, wallet))
  const { settled = [], isNews = true } = looked ?? {}
  driver.isIdle = looked?.isIdle ?? false
  const idlePause = idlePauseOf(own, driver, looked)
  // The store changed during the last look, so look again at once.
  const isMissed = driver.isIdle && driver.isChanged
  const next = isMissed ? 0 : (idlePause ?? looked?.next ?? takeEvery)
  if (looked) driver.aside.clear(wholeSubmitter)
  await driver.aside.save(driver.held)
  await own.waits.report(wallet.submitter, { settled, isNews })
  if (!looked?.isClaimed || !mayYield(context, driver, looked)) return next
  await yieldSubmitter(context, driver)
  return takeEvery
}

/** Milliseconds between two looks at a store that reports no changes. */
const askEvery = 1000

/**
 * Milliseconds until the next look at an idle submitter. In a store that reports
 * changes, the second look without news begins the long pauses: in between,
 * another shop may have claimed the submitter.
 */
function idlePauseOf(
  { context: { store, policy } }: SharedByDrivers,
  driver: Driver,
  look: SubmitterLook | undefined,
): number | undefined {
  if (!look?.isIdle) {
    driver.isCalm = false
    return undefined
  }
  const { chainId } = driver.wallet.submitter
  const { next: interval, isSuspended } = look
  const wasCalm = driver.isCalm
  // No event tells that a store is no longer suspended.
  driver.isCalm = !driver.isChanged && !isSuspended
  if (!store.onChange) return Math.min(interval, askEvery)
  if (!wasCalm || !driver.isCalm) return interval
  return quietIntervalOf(policy, { chainId, interval })
}

/**
 * Drops the state after a failed look, so that the next look loads it from the
 * store. Yields the submitter if another process claims it: that process may
 * succeed.
 *
 * @returns milliseconds until the next look.
 */
async function recover(
  { context }: SharedByDrivers,
  driver: Driver,
  error: unknown,
): Promise<number> {
  const { aside } = driver
  await driver.submitter?.broadcasts.sending.catch(() => undefined)
  driver.submitter = undefined
  let next = aside.put(wholeSubmitter, error)
  if (error instanceof LeaseLostError) {
    driver.held = undefined
    next = takeEvery
    aside.clearAll()
  }
  await aside.save(driver.held).catch(() => undefined)
  await yieldIfClaimed(context, driver).catch(() => undefined)
  return next
}

/**
 * Takes one turn at a submitter. Does nothing while someone else holds its
 * lease.
 */
async function takeTurn(
  own: SharedByDrivers,
  driver: Driver,
  wallet: OrderWallet,
): Promise<SubmitterLook | undefined> {
  const { context, waits } = own
  const { submitter: before, aside, joins } = driver
  const isEarly = performance.now() < driver.notBefore
  if (!isWanted(own, driver) || isEarly) return undefined
  await context.shop.refresh()
  const submitter = await openSubmitter(context, {
    wallet,
    submitter: before,
    aside,
    joins,
  })
  if (submitter !== before)
    await before?.broadcasts.sending.catch(() => undefined)
  driver.submitter = submitter
  driver.held = submitter?.lease
  if (submitter !== before) driver.takenAt = performance.now()
  if (!submitter) {
    // Only at every fourth failed try: a claim costs a few reads.
    const isTime = driver.denied++ % 4 === 1
    if (isTime) await claimSubmitter(context, wallet).catch(() => undefined)
    return undefined
  }
  driver.denied = 0
  const isAwaited = joins.isAwaited || waits.count(wallet.submitter) > 0
  const ready = context.recipients.filter(driver.isReady)
  submitter.orders.sendFor(isAwaited ? context.recipients : ready)
  return holdSubmitter(context, submitter, async () =>
    workSubmitter(context, submitter, await intervalOf(own, submitter)),
  )
}

/** Milliseconds between two looks until the chain's interval is known. */
const usualInterval = 1000

async function intervalOf(
  { context: { policy }, intervals }: SharedByDrivers,
  { wallet, pace, reader }: SubmitterState,
): Promise<number> {
  const { chainId } = wallet.submitter
  const known = policy.pollingInterval ?? intervals.get(chainId)
  if (known !== undefined) return known
  // Detection takes a few requests, so wait for some looks without news.
  if (pace.idle < 5) return usualInterval
  const { pollingInterval } = await detectPreconfirmations(reader)
  intervals.set(chainId, pollingInterval)
  return pollingInterval
}

/**
 * True when nothing due is left to send, or we held the submitter for too long.
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
 * Releases the submitter for those who claim it. The next holder settles the
 * transactions in flight.
 */
async function yieldSubmitter(
  context: OrdersContext,
  driver: Driver,
): Promise<void> {
  const { held, wallet } = driver
  // Let the claimants take it first, even if this driver is woken early.
  driver.notBefore = performance.now() + 2 * takeEvery
  if (held) await dropClaims(context, { lease: held, wallet })
  await leave(context, driver)
}

async function yieldIfClaimed(
  context: OrdersContext,
  driver: Driver,
): Promise<void> {
  const { submitter } = driver.wallet
  if (!driver.held) return
  const isWaitedFor = await context.store.read((tables) =>
    isClaimed(tables, context, submitter),
  )
  if (isWaitedFor) await yieldSubmitter(context, driver)
}

async function leave({ store }: OrdersContext, driver: Driver): Promise<void> {
  const { submitter, held } = driver
  driver.submitter = undefined
  driver.held = undefined
  await submitter?.broadcasts.sending.catch(() => undefined)
  if (held) await store.releaseLease(held).catch(() => undefined)
}
