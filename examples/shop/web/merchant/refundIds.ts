import { Problem } from '../api/Problem.js'

export type RefundIds = {
  /** The id of the refund that is requested now. */
  take: (orderId: string) => string
  /** Decides from the answer whether the next request is another refund. */
  settle: (orderId: string, error?: unknown) => void
}

/**
 * Draws ids of refunds. A request that got no answer keeps its id, so that
 * trying again refunds nothing twice.
 */
export function createRefundIds(): RefundIds {
  const open = new Map<string, string>()
  return {
    take: (orderId) => {
      const id = open.get(orderId) ?? crypto.randomUUID()
      open.set(orderId, id)
      return id
    },
    settle: (orderId, error) => {
      const isAnswered =
        error === undefined || (error instanceof Problem && error.status < 500)
      if (isAnswered) open.delete(orderId)
    },
  }
}
