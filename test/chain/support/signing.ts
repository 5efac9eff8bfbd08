import { type Hex, keccak256, stringToHex } from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { typedDataTypes } from '../../../src/core/typedDataTypes.js'
import type { Cancellation, Payment } from '../../../src/core/types.js'

/** The account whose key a word stands for. */
export const account = (label: string): PrivateKeyAccount =>
  privateKeyToAccount(keccak256(stringToHex(label)))

/** Signs with viem itself, and nothing of ours but the table of types. */
export function sign(
  signer: PrivateKeyAccount,
  { domain, primaryType, message }: Payment | Cancellation,
): Promise<Hex> {
  const typed = { domain, types: typedDataTypes, primaryType, message }
  return signer.signTypedData(
    typed as Parameters<typeof signer.signTypedData>[0],
  )
}

const curveOrder =
  0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

/** The other s that recovers to the same signer. */
export const flipS = (s: Hex): bigint => curveOrder - BigInt(s)
