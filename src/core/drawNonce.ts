import type { Hex } from 'viem'
import { NoRandomnessError } from './errors.js'

/** Draws 32 random bytes from Web Crypto; there is no weaker fallback. */
export function drawNonce(): Hex {
  const source = globalThis.crypto
  if (typeof source?.getRandomValues !== 'function')
    throw new NoRandomnessError()
  let nonce = ''
  for (const byte of source.getRandomValues(new Uint8Array(32)))
    nonce += byte.toString(16).padStart(2, '0')
  return `0x${nonce}`
}
