import type { OrderRole } from './types.js'

/**
 * Lists and counts leave out refunds, the orders that only hold a subscription's
 * permission, and movements of channels.
 */
export const listedRoles: readonly unknown[] = [
  'sale',
  'charge',
] satisfies OrderRole[]

export function isListed(row: object): boolean {
  return listedRoles.includes(Reflect.get(row, 'role'))
}
