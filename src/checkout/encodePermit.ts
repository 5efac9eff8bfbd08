import type { Hex } from 'viem'
import { bytesWords, word } from '../core/words.js'
import { isPlain } from '../payments/message/encodeCall.js'
import type { PermitMessage } from './parsePermitPayment.js'

/** Selectors of the two forms of `permit`: with `v, r, s`, and with `bytes`. */
const selectors = { vrs: 'd505accf', bytes: '9fd5a6cf' } as const

/** Encodes the call of the token's function `permit`. */
export function encodePermit(
  { owner, spender, value, deadline }: PermitMessage,
  signature: Hex,
): Hex {
  const words = word(owner) + word(spender) + word(value) + word(deadline)
  const [rs, v] = [signature.slice(2, 130), signature.slice(130)]
  return isPlain(signature)
    ? `0x${selectors.vrs}${words}${v.padStart(64, '0')}${rs}`
    : `0x${selectors.bytes}${words}${word(160)}${bytesWords(signature)}`
}
