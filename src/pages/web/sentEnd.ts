import type { BuyerState } from '../../client/BuyerClient.js'

/**
 * Names an attempt: the end of its window, which each new attempt sets anew.
 */
export function attemptKey({ window }: Pick<BuyerState, 'window'>): string {
  return window.validBefore
}

/**
 * Returns the attempt whose cancellation the buyer sent in this tab, before the
 * page was loaded again.
 */
export function readSentEnd(orderId: string): string | undefined {
  try {
    return sessionStorage.getItem(prefix + orderId) ?? undefined
  } catch {
    // A sandboxed frame has no storage, and touching it throws.
    return undefined
  }
}

/**
 * Keeps the attempt until the tab is closed. A buyer whose transaction was
 * never included opens the link again.
 */
export function keepSentEnd(orderId: string, attempt: string): void {
  try {
    sessionStorage.setItem(prefix + orderId, attempt)
  } catch {
    // Then the page offers the cancellation again, which can do no harm.
  }
}

const prefix = 'countersign canceled '
