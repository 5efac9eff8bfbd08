import type { Address } from 'viem'
import { idle, type LoopState } from '../../core/untilIdle.js'
import type { OrderRecord, Submitter } from '../../store/types.js'
import { type JoinedCapture, openJoins } from '../account/joins.js'
import { watchNetworks } from '../account/networks.js'
import { submitterKey } from '../account/submitterState.js'
import { waitForOrders } from '../account/waitForOrders.js'
import { openWalletAsk } from '../account/walletAsk.js'
import type { OrdersContext, OrderWallet } from '../context/types.js'
import type { Limit } from '../loop/limitTo.js'
import { openAside } from '../loop/putAside.js'
import { apply, rulesOf } from '../model/apply.js'
import type { AnswerAt } from '../model/earlyAnswer.js'
import type { StoredOrder } from '../model/storedOrder.js'
import {
  type CaptureRequest,
  captureInput,
  requestCaptures,
} from '../sending/requestCaptures.js'
import type { Driver, SharedByDrivers } from './driver.js'
import {
  finishDriver,
  holdDriver,
  isWanted,
  keepDriver,
  noticeChange,
  startDriver,
  stateOfDriver,
} from './driveSubmitter.js'

/**
 * Runs the submitters of one instance. Each has one loop, which all callers
 * share.
 */
export type SubmitterEngine = {
  requestCapture: CaptureRequest
  /**
   * Requests a capture in the database transaction that stores its signed
   * transaction. Resolves to the order as it was written, or to `undefined` if
   * nothing was written, because this process cannot send it now. Then request
   * the capture with `requestCapture`.
   */
  joinCapture(capture: JoinedCapture): Promise<OrderRecord | undefined>
  /**
   * Runs the order's submitter until the order is decided or the time is over.
   * @param answerAt as in `OrderWaits`.
   */
  waitFor(
    order: OrderRecord,
    timeout: number,
    answerAt?: AnswerAt | undefined,
  ): Promise<StoredOrder | undefined>
  /**
   * Runs a submitter until the signal aborts, even if nobody waits for an
   * order.
   *
   * @param isReady true once a recipient's orders may be sent. Ignored while
   * someone waits for an order of the submitter.
   */
  hold(
    submitter: Submitter,
    signal: AbortSignal,
    limit: Limit,
    isReady?: (recipient: Address) => boolean,
  ): Promise<void>
  /**
   * Takes a submitter's lease and keeps it for a second, because a capture will
   * be requested soon. Another call extends that time.
   */
  prepare(submitter: Submitter): void
  /** Says when a submitter that is held has work next. */
  stateOf(submitter: Submitter): LoopState
  /** Makes a submitter search for due orders at once. */
  wake(submitter: Submitter): void
  stop(): Promise<void>
  /** Aborts when `stop` is called. */
  stopping: AbortSignal
}

/** Milliseconds for which `prepare` keeps a submitter's lease. */
const preparedFor = 1_000

export function createSubmitterEngine(context: OrdersContext): SubmitterEngine {
  const drivers = new Map<string, Driver>()
  const waits = waitForOrders(context)
  const stopping = new AbortController()
  const { signal: stopped } = stopping
  const shared: SharedByDrivers = {
    context,
    waits,
    networks: watchNetworks(),
    stopping: stopped,
  }
  const endChanges = context.store.onChange?.((by) => {
    for (const driver of drivers.values()) noticeChange(driver, by)
  })
  const driverOf = (submitter: Submitter): Driver | undefined => {
    const key = submitterKey(submitter)
    const known = drivers.get(key)
    if (known) return known
    const wallet = context.wallets.find(
      (one) => submitterKey(one.submitter) === key,
    )
    if (!wallet) return undefined
    const driver = createDriver(context, wallet)
    drivers.set(key, driver)
    return driver
  }
  return {
    requestCapture: requestCaptures(context),
    joinCapture: async ({ stored, ...others }) => {
      if (stored.order.needsReview || stopped.aborted) return undefined
      const input = captureInput(context, stored.order)
      const { orders, events } = apply(stored, input, rulesOf(context))
      const [order] = orders
      const [event] = events
      if (!order || !event) return undefined
      const { chainId, submitter: account } = order
      const driver = driverOf({ chainId, account })
      // Do not wait for a submitter whose lease another process has, nor for a
      // wallet that signs and sends by itself.
      if (driver?.wallet.account.type !== 'local' || driver.denied > 0)
        return undefined
      const asked = { ...stored, order }
      const joined = driver.joins.offer({ ...others, stored: asked, event })
      startDriver(shared, driver)
      return joined
    },
    waitFor: (order, timeout, answerAt) => {
      const { chainId, submitter: account } = order
      // After `stop`, nothing reports outcomes, so do not wait.
      if (stopped.aborted) return Promise.resolve(undefined)
      const driver = driverOf({ chainId, account })
      const found = waits.wait(order, timeout, answerAt)
      if (!driver) return found
      startDriver(shared, driver)
      return found.finally(() => {
        if (!isWanted(shared, driver)) driver.running?.wake()
      })
    },
    hold: async (submitter, signal, limit, isReady = () => true) => {
      const driver = driverOf(submitter)
      if (!driver || signal.aborted) return
      await holdDriver(shared, driver, { signal, limit, isReady })
    },
    prepare: (submitter) => {
      const driver = driverOf(submitter)
      if (driver && !stopped.aborted) keepDriver(shared, driver, preparedFor)
    },
    stateOf: (submitter) => {
      const driver = drivers.get(submitterKey(submitter))
      return driver ? stateOfDriver(context, driver) : idle
    },
    wake: (submitter) => drivers.get(submitterKey(submitter))?.running?.wake(),
    stopping: stopped,
    stop: async () => {
      stopping.abort()
      endChanges?.()
      waits.end()
      for (const { joins } of drivers.values()) joins.startLook()()
      const ends = [...drivers.values()].map((driver) =>
        finishDriver(shared, driver),
      )
      await Promise.all(ends)
    },
  }
}

function createDriver(context: OrdersContext, wallet: OrderWallet): Driver {
  const driver: Driver = {
    wallet,
    aside: openAside(context, {
      key: submitterKey(wallet.submitter),
      observed: 'submitter.failed',
      about: wallet.submitter,
    }),
    holders: 0,
    keptUntil: 0,
    joins: openJoins(),
    walletAsk: openWalletAsk(() => driver.running?.wake()),
    rest: undefined,
    isIdle: false,
    dueAt: 0,
    isCalled: false,
    isCalm: false,
    isChanged: false,
    limit: (work) => work(),
    isReady: () => true,
    submitter: undefined,
    kept: undefined,
    takenAt: 0,
    notBefore: 0,
    denied: 0,
    running: undefined,
  }
  return driver
}
