import { bytesToHex, type Hex, hexToBytes, keccak256 } from 'viem'
import { checkMembers } from './checkMembers.js'
import { parseCancellation, parsePayment } from './fields.js'
import { hashText } from './hashText.js'
import { checkKeccak, type Keccak256, viemKeccak256 } from './keccak.js'
import { typeHash } from './typeHash.js'
import type { Cancellation, Payment, TokenDomain } from './types.js'
import { authorizationWords, word } from './words.js'

/**
 * Returns the domain separator of a token (EIP-712,
 * `hashStruct(eip712Domain)`), to compare with the token's own
 * `DOMAIN_SEPARATOR()`.
 */
export function hashDomain(domain: TokenDomain): Hex {
  return keccak256(encodeDomain(domain))
}

function encodeDomain(domain: TokenDomain): Hex {
  const { name, version, chainId, verifyingContract } = domain
  const texts = word(hashText(name)) + word(hashText(version))
  const words = texts + word(chainId) + word(verifyingContract)
  return `${typeHash('EIP712Domain')}${words}`
}

const separators = /* @__PURE__ */ new Map<string, Uint8Array>()

/**
 * Returns the domain separator as bytes, from a cache: a merchant hashes many
 * payments of few tokens.
 */
function separatorOf(domain: TokenDomain): Uint8Array {
  const { name, version, chainId, verifyingContract } = domain
  const key = `${chainId}${verifyingContract}${version.length},${version}${name}`
  const known = separators.get(key)
  if (known) return known

  const separator = keccak256(encodeDomain(domain), 'bytes')
  if (separators.size >= 100) separators.clear()
  separators.set(key, separator)
  return separator
}

/** Options of {@link hashPayment}. */
export type HashPaymentOptions = {
  /**
   * Hash function, for example that of `countersign/accelerate`.
   * @default viem's
   */
  keccak256?: Keccak256 | undefined
}

/**
 * Hashes a payment or a cancellation as its payer signs it (EIP-712).
 *
 * @throws {@link InvalidFieldError} when a field is malformed.
 *
 * @example
 * ```ts
 * import { buildPayment, hashPayment } from 'countersign'
 *
 * const digest = hashPayment(
 *   buildPayment({
 *     domain: {
 *       name: 'USD Coin',
 *       version: '2',
 *       chainId: 8453,
 *       verifyingContract: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
 *     },
 *     from: '0x70997970c51812dc3a010c7d01b50e0d17dc79c8',
 *     to: '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc',
 *     amount: '12.50',
 *   }),
 * )
 * ```
 */
export function hashPayment(
  payment: Payment | Cancellation,
  options: HashPaymentOptions = {},
): Hex {
  checkMembers(options, ['keccak256'], 'options')
  const { keccak256 = viemKeccak256 } = options
  checkKeccak(keccak256)
  return hashChecked(
    payment?.primaryType === 'CancelAuthorization'
      ? parseCancellation(payment)
      : parsePayment(payment),
    keccak256,
  )
}

export function hashChecked(
  checked: Payment | Cancellation,
  keccak256: Keccak256 = viemKeccak256,
): Hex {
  const envelope = new Uint8Array(66)
  envelope.set([0x19, 0x01])
  envelope.set(separatorOf(checked.domain), 2)
  envelope.set(keccak256(hexToBytes(encodeStruct(checked))), 34)
  return bytesToHex(keccak256(envelope))
}

/**
 * Returns the struct hash of a message whose fields were checked (EIP-712,
 * `hashStruct`).
 */
export function hashStruct(checked: Payment | Cancellation): Hex {
  return keccak256(encodeStruct(checked))
}

function encodeStruct({ primaryType, message }: Payment | Cancellation): Hex {
  const words =
    'authorizer' in message
      ? word(message.authorizer) + word(message.nonce)
      : authorizationWords(message)
  return `${typeHash(primaryType)}${words}`
}
