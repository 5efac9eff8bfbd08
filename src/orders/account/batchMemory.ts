import type { SubmitterValue } from './accountNonces.js'

/** What a submitter remembers about transactions that carried many payments. */
export type BatchMemory = {
  /**
   * Number of due orders that are worth loading for each transaction: twice as
   * many as the last plan of several payments had, and at least 100 if all of
   * these shared one; `undefined` before it.
   */
  readonly reach: number | undefined
  notePlan(payments: number, transactions: number): void
  /** Most payments of the next transaction that carries this order's. */
  limitOf(orderId: string): number
  /**
   * Records that a transaction did not capture this order's payment, whose
   * nonce is unused. If the transaction succeeded, the payment goes on alone;
   * if it reverted, with half as many others at most.
   */
  noteLeft(orderId: string, size: number, isReverted: boolean): void
  /** Forgets an order, because its payment is decided. */
  forget(orderId: string): void
}

export function openBatchMemory(): BatchMemory {
  const limits = new Map<string, number>()
  let reach: number | undefined
  return {
    get reach() {
      return reach
    },
    notePlan: (payments, transactions) => {
      if (payments < 2) return
      const each = Math.ceil(payments / transactions)
      if (transactions === 1) reach = Math.max(2 * each, 100)
      else reach = each > 1 ? 2 * each : 1
    },
    limitOf: (orderId) => limits.get(orderId) ?? Number.POSITIVE_INFINITY,
    noteLeft: (orderId, size, isReverted) => {
      limits.set(orderId, isReverted ? Math.max(1, Math.floor(size / 2)) : 1)
    },
    forget: (orderId) => {
      limits.delete(orderId)
    },
  }
}

/** Seconds: within this time, two are too many; so long the pause is. */
const hour = 3600

/**
 * Records that a transaction with several payments reverted. After two within
 * an hour, payments go alone for an hour.
 * @param now Unix seconds.
 */
export function noteReverted(
  { revertedAt, ...value }: SubmitterValue,
  now: number,
): SubmitterValue {
  const isSecond = revertedAt !== undefined && isWithinHour(now - revertedAt)
  return isSecond
    ? { ...value, aloneUntil: now + hour }
    : { ...value, revertedAt: now }
}

/** True while payments go alone, because too many transactions reverted. */
export function isPaused(
  { aloneUntil }: Pick<SubmitterValue, 'aloneUntil'>,
  now: number,
): boolean {
  return aloneUntil !== undefined && isWithinHour(aloneUntil - now)
}

/** False also if the clock was wrong when the time was stored. */
const isWithinHour = (seconds: number): boolean =>
  seconds >= 0 && seconds <= hour
