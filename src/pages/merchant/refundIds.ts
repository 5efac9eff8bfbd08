import { ProblemError } from '../../client/errors.js'

export type RefundIds = {
  /**
   * Returns the id for a refund that is requested now.
   *
   * @param payment the `refundId` of the payment, if it is not the one that
   * settled the order.
   */
  take: (orderId: string, payment?: string | undefined) => string
  /** Decides from the answer whether the next request is a new refund. */
  settle: (refundId: string, error?: unknown) => void
}

/**
 * Creates ids of refunds. A request without an answer keeps its id, so that
 * trying again does not refund twice.
 */
export function createRefundIds(): RefundIds {
  const open = new Map<string, string>()
  return {
    take: (orderId, payment) => {
      const key = payment ?? orderId
      const drawn = crypto.randomUUID()
      const id =
        open.get(key) ?? (payment === undefined ? drawn : `${payment}/${drawn}`)
      open.set(key, id)
      return id
    },
    settle: (refundId, error) => {
      const isAnswered =
        error === undefined ||
        (error instanceof ProblemError && error.status < 500)
      if (!isAnswered) return
      for (const [key, id] of open) if (id === refundId) open.delete(key)
    },
  }
}
