import { InvalidFieldError } from '../../core/errors.js'
import { type Permission, readPermission } from './permission.js'
import { redeemSelector } from './redeemCall.js'

/**
 * Finds the permission by which the input of a transaction captures, as
 * {@link redeemCall} wrote it; `undefined` in any other input.
 */
export function permissionIn(
  input: unknown,
  chainId: number,
): Permission | undefined {
  const text = String(input).toLowerCase()
  if (!text.startsWith(`0x${redeemSelector}`)) return undefined
  const body = text.slice(10)
  // Before it stand the three offsets, the number of contexts, the offset of
  // the only one, and its length.
  const length = Number(`0x${body.slice(5 * 64, 6 * 64)}`)
  const context = body.slice(6 * 64, 6 * 64 + 2 * length)
  try {
    return readPermission(`0x${context}`, { chainId, field: 'input' })
  } catch (error) {
    if (error instanceof InvalidFieldError) return undefined
    throw error
  }
}
