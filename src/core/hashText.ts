import { type Hex, keccak256, stringToHex } from 'viem'

/** `keccak256` of a text as UTF-8. */
export function hashText(text: string): Hex {
  return keccak256(stringToHex(text))
}
