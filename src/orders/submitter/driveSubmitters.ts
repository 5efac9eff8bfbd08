import type { Address } from 'viem'
import { detectPreconfirmations } from '../../chain/state/detectPreconfirmations.js'
import { onAbort } from '../../core/onAbort.js'
import { LeaseLostError } from '../../store/errors.js'
import type { Lease, OrderRecord, Submitter } from '../../store/types.js'
import {
  endingContext,
  lastAnswers,
  lastWrites,
} from '../evidence/endingContext.js'
import { observeFailure } from '../model/observeFailure.js'
import { type Aside, openAside } from '../model/putAside.js'
import type { StoredOrder } from '../model/storedOrder.js'
import type { OrdersContext, OrderWallet } from '../model/types.js'
import { claimSubmitter, dropClaims, isClaimed } from './claimSubmitter.js'
import { holdSubmitter } from './holdSubmitter.js'
import { openSubmitter } from './openSubmitter.js'
import { type CaptureRequest, requestCaptures } from './requestCaptures.js'
import { startPause } from './startPause.js'
import { type SubmitterState, submitterKey } from './submitterState.js'
import { waitForOrders } from './waitForOrders.js'
import { type SubmitterTick, workSubmitter } from './workSubmitter.js'

/** Runs some work when there is room for it. */
export type Limit = <result>(work: () => Promise<result>) => Promise<result>

/** What drives the submitters of one instance: one loop a submitter, whoever asks. */
export type SubmitterEngine = {
  requested: CaptureRequest
  /** Drives the order's submitter until the order is decided, or time is over. */
  waitFor(order: OrderRecord, timeout: number): Promise<StoredOrder | undefined>
  /**
   * Drives a submitter until the signal aborts, even if nobody waits for an order.
   *
   * @param isReady true once a recipient's orders may be sent. While someone
   * waits for an order of the submitter, all are sent at once.
   */
  hold(
    submitter: Submitter,
    signal: AbortSignal,
    limit: Limit,
    isReady?: (recipient: Address) => boolean,
  ): Promise<void>
  /** Makes a submitter look for due orders at once. */
  wake(submitter: Submitter): void
  /** Ends all driving once what is being written is written. */
  stop(): Promise<void>
  /** Aborts with `stop`, for whoever works beside. */
  stopping: AbortSignal
}

type Driver = {
  wallet: OrderWallet
  pause: ReturnType<typeof startPause>
  /**
   * Failed parts that wait for their next try: the submitter, or some of its orders.
   */
  aside: Aside
  /** How many keep it going besides those who wait. */
  holders: number
  limit: Limit
  isReady: (recipient: Address) => boolean
  /** The state of the submitter while we hold its lease. */
  submitter: SubmitterState | undefined
  held: Lease | undefined
  /** Milliseconds of `performance` when the submitter was taken. */
  takenAt: number
  /** When we may take the submitter again after we left it to others, likewise. */
  notBefore: number
  /** How often in a row the submitter was taken by someone else. */
  denied: number
  isIdle: boolean
  /** True when the store changed during the current look. */
  isChanged: boolean
  /** Ends what its loop asks of nodes. */
  letGo: AbortController
  /** The loop, while there is one. */
  running: Promise<void> | undefined
}

/** Milliseconds between two looks, as long as nothing else is known. */
const usualInterval = 1000

/** The name under which a whole submitter is put aside. */
const wholeSubmitter = 'submitter'

/** Milliseconds between two tries to take a submitter someone else works on. */
const takeEvery = 250

export function driveSubmitters(context: OrdersContext): SubmitterEngine {
  const { store, policy } = context
  const waits = waitForOrders(context)
  const drivers = new Map<string, Driver>()
  const intervals = new Map<number, number>()
  const stopping = new AbortController()
  const unheard = store.onChange?.(() => {
    for (const driver of drivers.values())
      if (driver.isIdle) driver.pause.wake()
      else driver.isChanged = true
  })

  const isWanted = ({ wallet, holders }: Driver) =>
    !stopping.signal.aborted &&
    (holders > 0 || waits.count(wallet.submitter) > 0)

  const intervalOf = async (submitter: SubmitterState): Promise<number> => {
    const { chainId } = submitter.wallet.submitter
    const known = policy.pollingInterval ?? intervals.get(chainId)
    if (known !== undefined) return known
    // Not before it has to be waited for: the answer takes a few requests.
    if (submitter.idle < 5) return usualInterval
    const { pollingInterval } = await detectPreconfirmations(submitter.reader)
    intervals.set(chainId, pollingInterval)
    return pollingInterval
  }

  const drive = async (driver: Driver): Promise<void> => {
    const { pause, aside } = driver
    driver.letGo = new AbortController()
    const { signal } = driver.letGo
    const own = endingContext(context, signal)
    const wallet = own.wallets.find(
      ({ submitter }) => submitter === driver.wallet.submitter,
    )
    if (!wallet) return
    while (isWanted(driver) && !signal.aborted) {
      let next = takeEvery
      driver.isIdle = false
      driver.isChanged = false
      try {
        // Takes the lease only once there is a place: it would expire while
        // waiting.
        const tick = await driver.limit(() => takeTurn(own, wallet, driver))
        const { settled = [], isNews = true } = tick ?? {}
        next = tick?.next ?? takeEvery
        driver.isIdle = tick?.isIdle ?? false
        // Look again at once: the last look may have missed what was written
        // since.
        if (driver.isIdle && driver.isChanged) next = 0
        if (tick) aside.clear(wholeSubmitter)
        await aside.save(driver.held)
        await waits.tell(wallet.submitter, { settled, isNews })
        if (tick?.isClaimed && mayYield(driver, tick)) {
          await yieldSubmitter(driver)
          next = takeEvery
        }
      } catch (error) {
        await driver.submitter?.sending.catch(() => undefined)
        // What is known may be wrong: the store is read again.
        driver.submitter = undefined
        next = aside.put(wholeSubmitter, error)
        if (error instanceof LeaseLostError) {
          driver.held = undefined
          next = takeEvery
          aside.clearAll()
        }
        await aside.save(driver.held).catch(() => undefined)
        await yieldFailing(driver).catch(() => undefined)
      }
      if (isWanted(driver)) await pause.wait(next)
    }
    await leave(driver)
  }

  /**
   * Takes one turn at a submitter. Does nothing while someone else holds its lease.
   */
  const takeTurn = async (
    own: OrdersContext,
    wallet: OrderWallet,
    driver: Driver,
  ): Promise<SubmitterTick | undefined> => {
    const { submitter: before, aside } = driver
    const isEarly = performance.now() < driver.notBefore
    if (!isWanted(driver) || isEarly) return undefined
    const submitter = await openSubmitter(own, {
      wallet,
      submitter: before,
      aside,
    })
    if (submitter !== before) await before?.sending.catch(() => undefined)
    driver.submitter = submitter
    driver.held = submitter?.lease
    if (submitter !== before) driver.takenAt = performance.now()
    if (!submitter) {
      // Only at every fourth failed try: a claim costs a few reads.
      const isTime = driver.denied++ % 4 === 1
      if (isTime) await claimSubmitter(own, wallet).catch(() => undefined)
      return undefined
    }
    driver.denied = 0
    const isAsked = waits.count(wallet.submitter) > 0
    submitter.recipients = isAsked
      ? own.recipients
      : own.recipients.filter(driver.isReady)
    return holdSubmitter(own, submitter, async () =>
      workSubmitter(own, submitter, await intervalOf(submitter)),
    )
  }

  /**
   * Gives the submitter to those who claim it. The next holder settles what is in
   * flight.
   */
  const yieldSubmitter = async (driver: Driver): Promise<void> => {
    const { held, wallet } = driver
    // Let the claimants take it first, even if this driver is woken early.
    driver.notBefore = performance.now() + 2 * takeEvery
    if (held) await dropClaims(context, { lease: held, wallet })
    await leave(driver)
  }

  /** Gives a failing submitter to those who claim it: it may work for them. */
  const yieldFailing = async (driver: Driver): Promise<void> => {
    const { submitter } = driver.wallet
    if (!driver.held) return
    const isWaitedFor = await store.read((tables) =>
      isClaimed(tables, context, submitter),
    )
    if (isWaitedFor) await yieldSubmitter(driver)
  }

  /**
   * True when nothing due is left to send, or the submitter was held for too long.
   */
  const mayYield = (
    { takenAt }: Driver,
    { isFull }: SubmitterTick,
  ): boolean => {
    const longest = Math.max(policy.lease, 2000 * policy.bumpAfter)
    return !isFull || performance.now() - takenAt > longest
  }

  /** Releases the submitter's lease. */
  const leave = async (driver: Driver): Promise<void> => {
    const { submitter, held } = driver
    driver.submitter = undefined
    driver.held = undefined
    await submitter?.sending.catch(() => undefined)
    if (held) await store.releaseLease(held).catch(() => undefined)
  }

  const start = (driver: Driver): void => {
    driver.pause.wake()
    driver.running ??= drive(driver)
      .catch((error: unknown) =>
        observeFailure(context, 'submitter.failed', {
          about: driver.wallet.submitter,
          error,
        }),
      )
      .finally(() => {
        driver.running = undefined
        // Someone may have come while the lease was given back.
        if (isWanted(driver)) start(driver)
      })
  }

  /**
   * Waits for a loop that is not wanted any more to end, until it is wanted
   * again. The wait is limited because a database may hang.
   */
  const finish = async (driver: Driver): Promise<void> => {
    const { running, letGo, pause } = driver
    pause.wake()
    if (!running) return
    let late: ReturnType<typeof setTimeout> | undefined
    let last: ReturnType<typeof setTimeout> | undefined
    await new Promise<void>((resolve) => {
      late = setTimeout(() => {
        if (isWanted(driver)) resolve()
        else letGo.abort()
      }, lastAnswers)
      last = setTimeout(resolve, lastAnswers + lastWrites)
      running.finally(resolve)
    })
    clearTimeout(late)
    clearTimeout(last)
  }

  const driverOf = (submitter: Submitter): Driver | undefined => {
    const key = submitterKey(submitter)
    const known = drivers.get(key)
    if (known) return known
    const wallet = context.wallets.find(
      (one) => submitterKey(one.submitter) === key,
    )
    if (!wallet) return undefined
    const driver: Driver = {
      wallet,
      pause: startPause(),
      aside: openAside(context, {
        key,
        observed: 'submitter.failed',
        about: wallet.submitter,
      }),
      holders: 0,
      isIdle: false,
      isChanged: false,
      limit: (work) => work(),
      isReady: () => true,
      submitter: undefined,
      held: undefined,
      takenAt: 0,
      notBefore: 0,
      denied: 0,
      running: undefined,
      letGo: new AbortController(),
    }
    drivers.set(key, driver)
    return driver
  }

  return {
    requested: requestCaptures(context),
    waitFor: (order, timeout) => {
      const { chainId, submitter: account } = order
      // Nobody would tell it any more.
      if (stopping.signal.aborted) return Promise.resolve(undefined)
      const driver = driverOf({ chainId, account })
      const found = waits.wait(order, timeout)
      if (!driver) return found
      start(driver)
      return found.finally(() => {
        if (!isWanted(driver)) driver.pause.wake()
      })
    },
    hold: async (submitter, signal, limit, isReady = () => true) => {
      const driver = driverOf(submitter)
      if (!driver || signal.aborted) return
      driver.limit = limit
      driver.isReady = isReady
      driver.holders++
      start(driver)
      await new Promise<void>((resolve) => onAbort(signal, resolve))
      driver.holders--
      if (!isWanted(driver)) await finish(driver)
    },
    wake: (submitter) => drivers.get(submitterKey(submitter))?.pause.wake(),
    stopping: stopping.signal,
    stop: async () => {
      stopping.abort()
      unheard?.()
      waits.end()
      await Promise.all([...drivers.values()].map(finish))
    },
  }
}
