import { addAll } from '../../core/addAll.js'
import type { StoredOrder } from '../model/storedOrder.js'

/**
 * Orders per group. The first group is smaller, so that signing starts early.
 */
const firstGroup = 100
const groupSize = 200

/** Most orders of one payer in a group. */
const mostOfPayer = 250

/**
 * Groups orders. Keeps a payer's orders in one group, because all are paid from
 * one balance.
 */
export function groupByPayer(
  storedOrders: readonly StoredOrder[],
): StoredOrder[][] {
  const byPayer = new Map<string, StoredOrder[]>()
  for (const stored of storedOrders) {
    const { token, payer } = stored.order
    const key = `${token} ${stored.attempt.payer ?? payer}`
    const group = byPayer.get(key)
    if (group) group.push(stored)
    else byPayer.set(key, [stored])
  }
  const groups: StoredOrder[][] = []
  for (const own of byPayer.values())
    for (let at = 0; at < own.length; at += mostOfPayer) {
      const part = own.slice(at, at + mostOfPayer)
      const last = groups.at(-1)
      const size = groups.length > 1 ? groupSize : firstGroup
      if (last && last.length + part.length <= size) addAll(last, part)
      else groups.push(part)
    }
  return groups
}
