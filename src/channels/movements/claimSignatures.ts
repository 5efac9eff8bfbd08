import type { Hex } from 'viem'

/**
 * The signatures of a claim, sealed together in the store. Any of them is a
 * credential: never log it.
 */
export type ClaimSignatures = {
  /** The payers' vouchers, in the sequence of the rows. */
  vouchers: readonly Hex[]
  /** The authorizer's signature of all rows together; absent if none signed. */
  together?: Hex | undefined
  /**
   * The authorizer's signatures of each row alone. With them, a row can be left
   * out without another signature.
   */
  alone: readonly Hex[]
}

export function encodeClaimSignatures(signatures: ClaimSignatures): string {
  return JSON.stringify(signatures)
}

/**
 * Decodes what {@link encodeClaimSignatures} encoded; `undefined` if there is
 * not one signature for each row. Says nothing about why: a message could show
 * a signature.
 */
export function decodeClaimSignatures(
  text: string,
  rows: number,
): ClaimSignatures | undefined {
  const { vouchers, together, alone } = parse(text)
  const isWhole =
    isList(vouchers, rows) &&
    (isList(alone, rows) || isList(alone, 0)) &&
    (together === undefined || isHex(together))
  return isWhole ? { vouchers, together, alone } : undefined
}

function parse(text: string): Partial<Record<keyof ClaimSignatures, unknown>> {
  try {
    return Object(JSON.parse(text))
  } catch {
    return {}
  }
}

const isHex = (value: unknown): value is Hex =>
  typeof value === 'string' && /^0x[\da-f]+$/.test(value)

const isList = (value: unknown, length: number): value is Hex[] =>
  Array.isArray(value) && value.length === length && value.every(isHex)
