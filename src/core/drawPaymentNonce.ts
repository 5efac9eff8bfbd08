import type { Hex } from 'viem'
import { drawNonce } from './drawNonce.js'
import { startSequence } from './startSequence.js'

/** Draws a payment nonce for any token: 24 random bytes, then 8 zero bytes. */
export function drawPaymentNonce(): Hex {
  return startSequence(drawNonce())
}
