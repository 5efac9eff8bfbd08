import { checkUnit } from '../../core/clock.js'
import { InvalidFieldError, shown } from '../../core/errors.js'
import { parseSpendPermission } from './parseSpendPermission.js'
import type {
  SpendPeriod,
  SpendPermission,
  SpendPermissionMessage,
} from './types.js'

/**
 * Returns the period of a permission at a time, with the manager's own
 * arithmetic: periods follow each other from `start`, and the last one ends
 * with the permission. Returns `undefined` before `start` and from `end` on.
 *
 * @throws {@link InvalidFieldError} when permission or time are malformed.
 *
 * @example
 * ```ts
 * import { periodAt, type SpendPermission } from 'countersign/subscriptions'
 *
 * export const periodEnd = (permission: SpendPermission, time: bigint) =>
 *   periodAt(permission, time)?.end
 * ```
 */
export function periodAt(
  permission: SpendPermission,
  time: bigint,
): SpendPeriod | undefined {
  const { message } = parseSpendPermission(permission)
  if (typeof time !== 'bigint')
    throw new InvalidFieldError('time', shown(time), 'a bigint of Unix seconds')
  checkUnit(time, 'time')
  return findPeriod(message, time)
}

export function findPeriod(
  { start, end, period }: SpendPermissionMessage,
  time: bigint,
): SpendPeriod | undefined {
  if (time < start || time >= end) return undefined
  const passed = (time - start) / period
  const begin = start + passed * period
  const next = begin + period
  return {
    number: passed + 1n,
    start: begin,
    end: next < end ? next : end,
  }
}
