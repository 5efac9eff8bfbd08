import type { Hex } from 'viem'
import { drawNonce } from './drawNonce.js'

/**
 * Draws the nonce of a payment for any token: 24 random bytes, then 8 zero bytes. A token
 * with keyed nonces (OpenZeppelin's `ERC20TransferAuthorization`) reads the last
 * 8 bytes as a sequence that starts at 0 for each key.
 */
export function drawPaymentNonce(): Hex {
  return `0x${drawNonce().slice(2, 50)}${'00'.repeat(8)}`
}
