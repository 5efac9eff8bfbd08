import type { OrderRecord } from './types.js'

/**
 * Lists and counts leave out refunds, and the orders that only hold a
 * subscription's permission: each line must hold, by one of its members that is
 * there (true) or missing (false).
 */
export const listedOrders: readonly Partial<
  Record<keyof OrderRecord, boolean>
>[] = [{ refundOf: false }, { subscriptionId: false, chargeId: true }]

export function isListed(row: object): boolean {
  return listedOrders.every((line) =>
    Object.entries(line).some(
      ([member, isThere]) =>
        (Reflect.get(row, member) !== undefined) === isThere,
    ),
  )
}
