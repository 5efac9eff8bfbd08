import {
  type Address,
  encodeAbiParameters,
  type Hex,
  keccak256,
  stringToHex,
} from 'viem'
import { checkMembers, type MembersOf } from '../../core/checkMembers.js'
import { InvalidFieldError, shown } from '../../core/errors.js'
import { parseBytes32 } from '../../core/fields.js'
import { parseCheckedAddress } from '../../core/parseCheckedAddress.js'

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

const members: MembersOf<RefundNonceParameters> = {
  chainId: true,
  token: true,
  payer: true,
  nonce: true,
  index: true,
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
 * token, payer, nonce, index))`. It is computed from facts of the chain, not of
 * a database. So whatever process or backup sends a second refund with the same
 * index, the token refuses it.
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
  checkMembers(parameters, members)
  const { chainId, index } = parameters
  return keccak256(
    encodeAbiParameters(parameterTypes, [
      tag,
      parseCount(chainId, 'chainId'),
      parseCheckedAddress(parameters.token, 'token'),
      parseCheckedAddress(parameters.payer, 'payer'),
      parseBytes32(parameters.nonce, 'nonce'),
      parseCount(index, 'index'),
    ]),
  )
}

function parseCount(value: number, field: string): bigint {
  if (Number.isSafeInteger(value) && value >= 0) return BigInt(value)
  throw new InvalidFieldError(field, shown(value), 'an integer of 0 or more')
}
