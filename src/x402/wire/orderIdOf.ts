import { hashTextBy, type Keccak256 } from '../../core/keccak.js'
import type { Payment } from '../../core/types.js'

/**
 * Returns the id of the order for an x402 payment. Depends only on the payment,
 * so that every gate, facilitator and process uses the same id, and only one of
 * them can insert the order.
 */
export function orderIdOf(
  { domain, message }: Payment,
  keccak256?: Keccak256,
): string {
  const { chainId, verifyingContract } = domain
  const { from, nonce } = message
  const hash = hashTextBy(
    `${chainId}:${verifyingContract}:${from}:${nonce}`,
    keccak256,
  )
  return `x402-${hash.slice(2, 42)}`
}
