import { hashText } from '../../core/hashText.js'
import type { Payment } from '../../core/types.js'

/**
 * The id of the order that x402 makes of a payment. It follows from the payment
 * alone, so that gate, facilitator and every process find the same order, and
 * only one of them can insert it.
 */
export function orderIdOf({ domain, message }: Payment): string {
  const { chainId, verifyingContract } = domain
  const { from, nonce } = message
  const hash = hashText(`${chainId}:${verifyingContract}:${from}:${nonce}`)
  return `x402-${hash.slice(2, 42)}`
}
