import type { Address } from 'viem'
import type { Lease } from '../../store/types.js'
import type { Limit } from '../loop/limitTo.js'
import type { Aside } from '../loop/putAside.js'
import type { OrdersContext, OrderWallet } from '../model/types.js'
import type { Joins } from './joins.js'
import type { SubmitterState } from './submitterState.js'
import type { OrderWaits } from './waitForOrders.js'

/** State that all drivers of one instance share. */
export type SharedByDrivers = {
  context: OrdersContext
  waits: OrderWaits
  /** Milliseconds between two looks, by chain id, once detected. */
  intervals: Map<number, number>
  stopping: AbortSignal
}

/** A wait that `wake` ends early. */
export type Pause = {
  /**
   * Resolves after a time, or at once if woken since the last wait. True if
   * woken.
   */
  wait(milliseconds: number): Promise<boolean>
  wake(): void
}

export type Driver = {
  readonly wallet: OrderWallet
  readonly pause: Pause
  /**
   * Failed work that waits for its next try: the whole submitter, a step, a
   * nonce or an order.
   */
  readonly aside: Aside
  /** Captures to record in one write with the requests of their callers. */
  readonly joins: Joins
  /**
   * Number of `holdDriver` calls that keep the loop running. Callers that wait
   * for an order are not counted.
   */
  holders: number
  /**
   * Set by `keepDriver`: milliseconds of `performance` until which the loop
   * goes on even if nobody waits.
   */
  keptUntil: number
  limit: Limit
  isReady: (recipient: Address) => boolean
  submitter: SubmitterState | undefined
  held: Lease | undefined
  /** Milliseconds of `performance` when we took the submitter. */
  takenAt: number
  /**
   * Milliseconds of `performance` from which we may take the submitter again
   * after we yielded it.
   */
  notBefore: number
  /** Number of tries in a row that found the lease held by someone else. */
  denied: number
  isIdle: boolean
  /** True when the last look found nothing and the store is silent since. */
  isCalm: boolean
  /** True when the store changed during the current look. */
  isChanged: boolean
  /** Aborts the loop's open requests to nodes. */
  letGo: AbortController
  running: Promise<void> | undefined
}
