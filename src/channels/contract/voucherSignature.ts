import type { Hex } from 'viem'
import { normalizeSignature } from '../../core/signature.js'

const keySignature = /^0x[\da-f]{128}1[bc]$/

/**
 * Brings a voucher's signature into the only form that the contract accepts: 65
 * bytes, `v` 27 or 28, low `s`. Repairs `v` 0 or 1, EIP-2098 (64 bytes) and a
 * high `s`: libraries accept these, but the contract reverts, and a claim then
 * fails for all channels in it. Store only what this function returns.
 *
 * Returns `undefined` for anything that has no such form, as the signature of a
 * contract wallet.
 *
 * @example
 * ```ts
 * import { normalizeVoucherSignature } from 'countersign/channels'
 *
 * const none = normalizeVoucherSignature('0x1234') // undefined
 * ```
 */
export function normalizeVoucherSignature(signature: Hex): Hex | undefined {
  const normal = normalizeSignature(signature)
  return normal && keySignature.test(normal) ? normal : undefined
}
