import {
  type Address,
  encodeAbiParameters,
  type Hex,
  keccak256,
  stringToHex,
} from 'viem'
import { checkMembers } from '../../core/checkMembers.js'
import { InvalidFieldError, shown } from '../../core/errors.js'
import { parseBytes32 } from '../../core/fields.js'
import { parseCheckedAddress } from '../../core/parseCheckedAddress.js'
import { startSequence } from '../../core/startSequence.js'

/** Parameters of {@link refundNonce}. The nonce depends on nothing else. */
export type RefundNonceParameters = {
  chainId: number
  /** Contract address of the token. */
  token: Address
  /** Account that paid, and gets the tokens back. */
  payer: Address
  /** Nonce of the captured payment. */
  nonce: Hex
  /** Position of this refund among the refunds of the payment, from 0. */
  index: number
}

/**
 * Text that only nonces of refunds are hashed with, so that they differ from
 * all other nonces; padded with zero bytes to 32.
 */
const tag: Hex = /* @__PURE__ */ stringToHex('countersign refund', { size: 32 })

const parameterTypes = [
  { type: 'bytes32' },
  { type: 'uint256' },
  { type: 'address' },
  { type: 'address' },
  { type: 'bytes32' },
  { type: 'uint256' },
] as const

/**
 * Computes the payment nonce of a refund: `keccak256(abi.encode(tag, chain,
 * token, payer, nonce, index))`. If bytes 25 to 28 of the payment's nonce are
 * zero, as in all nonces that tokens with keyed nonces take in practice, the
 * last 8 bytes of the result are zero too: its key is new, and its sequence
 * starts at 0.
 *
 * It is computed from facts of the chain, not of a database. So whatever process
 * or backup sends a second refund with the same index, the token refuses it.
 * @throws {@link InvalidFieldError} when a parameter is malformed.
 *
 * @example
 * ```ts
 * import { refundNonce } from 'countersign/orders'
 *
 * export const first = refundNonce({
 *   chainId: 8453,
 *   token: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
 *   payer: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
 *   nonce: `0x${'5e'.repeat(32)}`,
 *   index: 0,
 * })
 * ```
 */
export function refundNonce(parameters: RefundNonceParameters): Hex {
  return refundNonces(parameters)[0]
}

/**
 * Computes all nonces that a refund at this index can have on chain: first the
 * one to sign, then the plain hash, which earlier versions signed in any case.
 */
export function refundNonces(
  parameters: RefundNonceParameters,
): readonly [Hex, ...Hex[]] {
  checkMembers(parameters, ['chainId', 'token', 'payer', 'nonce', 'index'])
  const { chainId, index } = parameters
  const nonce = parseBytes32(parameters.nonce, 'nonce')
  const hash = keccak256(
    encodeAbiParameters(parameterTypes, [
      tag,
      parseCount(chainId, 'chainId'),
      parseCheckedAddress(parameters.token, 'token'),
      parseCheckedAddress(parameters.payer, 'payer'),
      nonce,
      parseCount(index, 'index'),
    ]),
  )
  return mayBeKeyed(nonce) ? [startSequence(hash), hash] : [hash]
}

/**
 * True when the last 8 bytes of a nonce are below 2^32, as a sequence is. Of
 * random nonces, one in 2^32 is; every other token takes its refund as well.
 */
function mayBeKeyed(nonce: Hex): boolean {
  return /^0{8}$/.test(nonce.slice(50, 58))
}

function parseCount(value: number, field: string): bigint {
  if (Number.isSafeInteger(value) && value >= 0) return BigInt(value)
  throw new InvalidFieldError(field, shown(value), 'an integer of 0 or more')
}
