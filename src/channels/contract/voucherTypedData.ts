import type { Hex } from 'viem'
import { checkMembers, type MembersOf } from '../../core/checkMembers.js'
import { parseBytes32, parsePositiveInteger } from '../../core/fields.js'
import {
  checkKeccak,
  type Keccak256,
  viemKeccak256,
} from '../../core/keccak.js'
import type { TokenDomain } from '../../core/types.js'
import { word } from '../../core/words.js'
import { channelDigest, structHash } from './channelDigest.js'
import { channelDomain } from './channelDomain.js'
import { parseObject, parseUnits } from './parseValues.js'
import type { Voucher } from './types.js'

/** The EIP-712 type of a voucher. */
export const voucherTypes = {
  Voucher: [
    { name: 'channelId', type: 'bytes32' },
    { name: 'maxClaimableAmount', type: 'uint128' },
  ],
} as const

/** A voucher and its chain. */
export type VoucherTypedDataParameters = { chainId: number; voucher: Voucher }

/** Typed data of a voucher, to pass to a wallet's `signTypedData`. */
export type VoucherTypedData = {
  domain: TokenDomain
  types: typeof voucherTypes
  primaryType: 'Voucher'
  message: { channelId: Hex; maxClaimableAmount: bigint }
}

/**
 * The typed data of a voucher, for a wallet's `signTypedData`.
 *
 * @throws {@link InvalidFieldError} when a field is malformed.
 *
 * @example
 * ```ts
 * import { type Voucher, voucherTypedData } from 'countersign/channels'
 *
 * export const request = (voucher: Voucher) =>
 *   voucherTypedData({ chainId: 8453, voucher })
 * ```
 */
export function voucherTypedData(
  parameters: VoucherTypedDataParameters,
): VoucherTypedData {
  checkMembers(parameters, ['chainId', 'voucher'])
  const given: VoucherTypedDataParameters = Object(parameters)
  const { channelId, maxClaimable } = parseVoucher(given.voucher)
  return {
    domain: channelDomain(given.chainId),
    types: voucherTypes,
    primaryType: 'Voucher',
    message: { channelId, maxClaimableAmount: maxClaimable },
  }
}

/** Parameters of {@link hashVoucher}. */
export type HashVoucherParameters = VoucherTypedDataParameters & {
  /**
   * Hash function, for example that of `countersign/accelerate`.
   * @default viem's
   */
  keccak256?: Keccak256 | undefined
}

/**
 * Hashes a voucher as the payer's key signs it (EIP-712). The contract's
 * `getVoucherDigest` returns the same.
 *
 * @throws {@link InvalidFieldError} when a field is malformed.
 *
 * @example
 * ```ts
 * import { hashVoucher, type Voucher } from 'countersign/channels'
 *
 * export const digestOf = (voucher: Voucher) =>
 *   hashVoucher({ chainId: 8453, voucher })
 * ```
 */
export function hashVoucher(parameters: HashVoucherParameters): Hex {
  checkMembers(parameters, ['chainId', 'voucher', 'keccak256'])
  const given: HashVoucherParameters = Object(parameters)
  const { keccak256 = viemKeccak256 } = given
  checkKeccak(keccak256)
  const chainId = parsePositiveInteger(given.chainId, 'chainId')
  return hashParsedVoucher(parseVoucher(given.voucher), chainId, keccak256)
}

/** Like {@link hashVoucher}, for a voucher that was parsed. */
export function hashParsedVoucher(
  { channelId, maxClaimable }: Voucher,
  chainId: number,
  keccak256: Keccak256,
): Hex {
  const words = word(channelId) + word(maxClaimable)
  const struct = structHash('Voucher', words, keccak256)
  return channelDigest(chainId, struct, keccak256)
}

const members: MembersOf<Voucher> = { channelId: true, maxClaimable: true }

/**
 * Parses a voucher without its signature. The id becomes lower case.
 *
 * @throws {@link InvalidFieldError} that names the first malformed member.
 */
export function parseVoucher(value: unknown, field = 'voucher'): Voucher {
  const given = parseObject(value, field)
  checkMembers<object>(given, members, field)
  return {
    channelId: parseBytes32(given.channelId, `${field}.channelId`),
    maxClaimable: parseUnits(given.maxClaimable, `${field}.maxClaimable`),
  }
}
