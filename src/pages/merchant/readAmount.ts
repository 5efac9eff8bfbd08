import { parseAmount } from '../../core/amount.js'

/**
 * Parses an amount that a merchant typed. Returns `undefined` if it is
 * malformed.
 */
export function readAmount(text: string, decimals: number): bigint | undefined {
  try {
    return parseAmount(text, decimals)
  } catch {
    return undefined
  }
}
