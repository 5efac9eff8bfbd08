import { bytesToHex, type Hex } from 'viem'
import { type Keccak256, viemKeccak256 } from './keccak.js'

/** `keccak256` of a text as UTF-8. */
export function hashText(
  text: string,
  keccak256: Keccak256 = viemKeccak256,
): Hex {
  return bytesToHex(keccak256(new TextEncoder().encode(text)))
}
