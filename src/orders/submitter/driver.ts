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
  /** Resolves once the loop has ended and released the submitter. */
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
  /** The submitter's lease, which may outlive its state. */
  kept: KeptLease | undefined
  /** Milliseconds of `performance` when we took the submitter. */
  takenAt: number
  /**
   * Milliseconds of `performance` from which we may take the submitter again
   * after we yielded it.
   */
  notBefore: number
  /** Number of tries in a row that found the lease held by someone else. */
  denied: number
  /** What may end the pause of the loop, as the last look found. */
  rest: SubmitterLook['rest']
  /** True when this process asked for a look since the last one began. */
  isCalled: boolean
  /** True when the last look found nothing and the store is silent since. */
  isCalm: boolean
  /** True when the store changed during the current look. */
  isChanged: boolean
  /** The loop that runs, if any. */
  running: RunningLoop | undefined
}
