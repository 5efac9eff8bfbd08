import type { Address } from 'viem'
import type { KeptLease } from '../../store/keepLease.js'
import type { Limit } from '../loop/limitTo.js'
import type { Aside } from '../loop/putAside.js'
import type { OrdersContext, OrderWallet } from '../model/types.js'
import type { Joins } from './joins.js'
import type { Networks } from './networks.js'
import type { SubmitterState } from './submitterState.js'
import type { OrderWaits } from './waitForOrders.js'
import type { SubmitterLook } from './workSubmitter.js'

/** State that all drivers of one instance share. */
export type SharedByDrivers = {
  context: OrdersContext
  waits: OrderWaits
  networks: Networks
  stopping: AbortSignal
}

/** A loop that drives a submitter. */
type RunningLoop = {
  wake(): void
  /** Resolves once the loop has ended and released the lease. */
  ended: Promise<void>
  /** Aborts the loop's open requests to nodes. */
  letGo(): void
}

export type Driver = {
  readonly wallet: OrderWallet
  /**
   * Failed work that waits for its next try: the whole submitter, a step, a
   * nonce or an order.
   */
  readonly aside: Aside
  /** Captures whose request and transaction are stored in one write. */
  readonly joins: Joins
  /**
   * Number of `holdDriver` calls that keep the loop running. Callers that wait
   * for an order are not counted.
   */
  holders: number
  /**
   * Set by `keepDriver`: time of `performance.now()` until which the loop goes
   * on even if nobody waits.
   */
  keptUntil: number
  limit: Limit
  isReady: (recipient: Address) => boolean
  submitter: SubmitterState | undefined
  /** The submitter's lease. It stays when a failed poll drops `submitter`. */
  kept: KeptLease | undefined
  /** Time of `performance.now()` when we took the lease. */
  takenAt: number
  /**
   * Time of `performance.now()` from which we may take the lease again after we
   * gave it to a process that claimed it.
   */
  notBefore: number
  /** Number of tries in a row that found the lease held by another process. */
  denied: number
  /** What may end the current pause early; from the last poll. */
  rest: SubmitterLook['rest']
  /** True when this process asked for a poll since the last one began. */
  isCalled: boolean
  /**
   * True when the last poll found nothing and the store has not changed since.
   */
  isCalm: boolean
  /** True when the store changed during the current poll. */
  isChanged: boolean
  /** The loop that runs, if any. */
  running: RunningLoop | undefined
}
