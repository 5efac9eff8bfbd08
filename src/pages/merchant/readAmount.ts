import { parseAmount } from '../../core/amount.js'

/** Parses what a merchant typed; `undefined` if it is no amount. */
export function readAmount(text: string, decimals: number): bigint | undefined {
  try {
    return parseAmount(text, decimals)
  } catch {
    return undefined
  }
}
