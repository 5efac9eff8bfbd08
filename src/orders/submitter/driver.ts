import type { Address } from 'viem'
import type { KeptLease } from '../../store/keepLease.js'
import type { Joins } from '../account/joins.js'
import type { Networks } from '../account/networks.js'
import type { SubmitterState } from '../account/submitterState.js'
import type { OrderWaits } from '../account/waitForOrders.js'
import type { WalletAsk } from '../account/walletAsk.js'
import type { OrdersContext, OrderWallet } from '../context/types.js'
import type { Limit } from '../loop/limitTo.js'
import type { Aside } from '../loop/putAside.js'
import type { SubmitterLook } from './workSubmitter.js'

/** State that the loops of all submitters of one instance share. */
export type SharedByDrivers = {
  context: OrdersContext
  waits: OrderWaits
  networks: Networks
  stopping: AbortSignal
}

/** The running loop of a submitter. */
type RunningLoop = {
  wake(): void
  /** `performance.now()` of the next poll; 0 while the loop polls. */
  nextLook(): number
  /** Resolves once the loop has ended and released the lease. */
  ended: Promise<void>
  /** Aborts the loop's open requests to nodes. */
  letGo(): void
}

export type Driver = {
  readonly wallet: OrderWallet
  /**
   * Work that failed and waits for its next try: the whole submitter, a step,
   * an account nonce or an order.
   */
  readonly aside: Aside
  /**
   * Captures whose request is stored together with their transaction, in one
   * write.
   */
  readonly joins: Joins
  /** The request that a wallet has not answered yet. */
  readonly walletAsk: WalletAsk
  /**
   * Number of `holdDriver` calls that keep the loop running. Callers that wait
   * for an order are not included.
   */
  holders: number
  /**
   * Set by `keepDriver`: the loop continues until this time of
   * `performance.now()`, even if nobody waits.
   */
  keptUntil: number
  limit: Limit
  isReady: (recipient: Address) => boolean
  submitter: SubmitterState | undefined
  /**
   * The submitter's lease. It is kept when a failed poll drops the state
   * `submitter`.
   */
  kept: KeptLease | undefined
  /** `performance.now()` when this process took the lease. */
  takenAt: number
  /**
   * After this process released the lease for another: the time of
   * `performance.now()` from which it may take the lease again.
   */
  notBefore: number
  /** Number of tries in a row that found the lease held by another process. */
  denied: number
  /** What may end the current pause early, as the last poll decided. */
  rest: SubmitterLook['rest']
  /** True when the last poll found nothing to do, or nothing that can be done. */
  isIdle: boolean
  /**
   * `performance.now()` at which an idle submitter may have work again;
   * `Infinity` if no order is due.
   */
  dueAt: number
  /** True when this process has asked for a poll since the last one began. */
  isCalled: boolean
  /**
   * True when the last poll found nothing to do and the store has not changed
   * since.
   */
  isCalm: boolean
  /** True when the store changed during the current poll. */
  isChanged: boolean
  /** The running loop, if there is one. */
  running: RunningLoop | undefined
}
