import { type Hex, keccak256, stringToHex } from 'viem'

/** Returns the Keccak-256 hash of a text, encoded as UTF-8. */
export function hashText(text: string): Hex {
  return keccak256(stringToHex(text))
}
