import { type Hex, keccak256, stringToHex } from 'viem'
import { readCancellation, readPayment } from './fields.js'
import { typeHashes } from './typedDataTypes.js'
import type { Cancellation, Payment, TokenDomain } from './types.js'
import { authorizationWords, word } from './words.js'

const separators = /* @__PURE__ */ new Map<string, Hex>()

/**
 * The domain separator of a token (EIP-712, `hashStruct(eip712Domain)`), to
 * compare with the token's own `DOMAIN_SEPARATOR()`.
 */
export function hashDomain(domain: TokenDomain): Hex {
  const { name, version, chainId, verifyingContract } = domain
  const key = `${chainId}${verifyingContract}${version.length},${version}${name}`
  const known = separators.get(key)
  if (known) return known

  const separator = keccak256(
    `${typeHashes.EIP712Domain}${keccak256(stringToHex(name)).slice(2)}${keccak256(
      stringToHex(version),
    ).slice(2)}${word(chainId)}${word(verifyingContract)}`,
  )
  if (separators.size >= 100) separators.clear()
  separators.set(key, separator)
  return separator
}

/**
 * Hashes a payment or a cancellation as its payer signs it (EIP-712).
 *
 * @throws {@link InvalidFieldError} when a field is malformed.
 *
 * @example
 * ```ts
 * import { buildPayment, hashPayment, knownTokens } from 'countersign'
 *
 * const token = knownTokens[0]
 * const digest = hashPayment(
 *   buildPayment({
 *     domain: {
 *       name: token.name,
 *       version: token.version,
 *       chainId: token.chainId,
 *       verifyingContract: token.address,
 *     },
 *     from: '0x70997970c51812dc3a010c7d01b50e0d17dc79c8',
 *     to: '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc',
 *     amount: '12.50',
 *   }),
 * )
 * ```
 */
export function hashPayment(payment: Payment | Cancellation): Hex {
  const checked =
    payment?.primaryType === 'CancelAuthorization'
      ? readCancellation(payment)
      : readPayment(payment)
  const separator = hashDomain(checked.domain)
  return keccak256(`0x1901${separator.slice(2)}${hashStruct(checked).slice(2)}`)
}

/** The struct hash of a checked message (EIP-712, `hashStruct`). */
export function hashStruct(checked: Payment | Cancellation): Hex {
  return keccak256(
    checked.primaryType === 'CancelAuthorization'
      ? `${typeHashes.CancelAuthorization}${word(checked.message.authorizer)}${word(checked.message.nonce)}`
      : `${typeHashes[checked.primaryType]}${authorizationWords(checked.message)}`,
  )
}
