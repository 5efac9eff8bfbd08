import type { Hex } from 'viem'
import { checkMembers } from '../../core/checkMembers.js'
import { parseBytes32 } from '../../core/fields.js'
import type { TokenDomain } from '../../core/types.js'
import { channelDomain } from './channelDomain.js'
import { parseUint256, parseUnits } from './parseValues.js'

/** The EIP-712 type of a refund. */
export const refundTypes = {
  Refund: [
    { name: 'channelId', type: 'bytes32' },
    { name: 'nonce', type: 'uint256' },
    { name: 'amount', type: 'uint128' },
  ],
} as const

/** Parameters of {@link refundTypedData}. */
export type RefundTypedDataParameters = {
  chainId: number
  channelId: Hex
  /** The channel's `refundNonce`. Each refund uses one, in sequence. */
  nonce: bigint
  /** Base units to give back to the payer. */
  value: bigint
}

/** Typed data of a refund, to pass to `signTypedData` of `receiverAuthorizer`. */
export type RefundTypedData = {
  domain: TokenDomain
  types: typeof refundTypes
  primaryType: 'Refund'
  message: { channelId: Hex; nonce: bigint; amount: bigint }
}

/**
 * The typed data of a refund, which the receiver's authorizer signs for
 * `refundWithSignatureCall`.
 *
 * Anyone who sees the signature can send it. The contract pays at most what is
 * not claimed, so claim first what is yours.
 *
 * @throws {@link InvalidFieldError} when a field is malformed.
 *
 * @example
 * ```ts
 * import { type Channel, refundTypedData } from 'countersign/channels'
 *
 * export const request = (channelId: `0x${string}`, channel: Channel) =>
 *   refundTypedData({
 *     chainId: 8453,
 *     channelId,
 *     nonce: channel.refundNonce,
 *     value: channel.balance - channel.claimed,
 *   })
 * ```
 */
export function refundTypedData(
  parameters: RefundTypedDataParameters,
): RefundTypedData {
  checkMembers(parameters, ['chainId', 'channelId', 'nonce', 'value'])
  const given: RefundTypedDataParameters = Object(parameters)
  return {
    domain: channelDomain(given.chainId),
    types: refundTypes,
    primaryType: 'Refund',
    message: {
      channelId: parseBytes32(given.channelId, 'channelId'),
      nonce: parseUint256(given.nonce, 'nonce'),
      amount: parseUnits(given.value, 'value', 1n),
    },
  }
}
