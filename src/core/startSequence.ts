import type { Hex } from 'viem'

/**
 * Sets the last 8 bytes of a payment nonce to zero, so that any token takes it. A
 * token with keyed nonces (OpenZeppelin's `ERC20TransferAuthorization`) takes the
 * first 24 bytes as a key, and the last 8 as a sequence that starts at 0 for each
 * key.
 */
export function startSequence(nonce: Hex): Hex {
  return `0x${nonce.slice(2, 50)}${'00'.repeat(8)}`
}
