import { type Address, type Hex, recoverAddress } from 'viem'
import { checkMembers } from '../../core/checkMembers.js'
import { InvalidFieldError, shown } from '../../core/errors.js'
import { parseAddress, parsePositiveInteger } from '../../core/fields.js'
import {
  checkKeccak,
  type Keccak256,
  viemKeccak256,
} from '../../core/keccak.js'
import type { Voucher } from '../contract/types.js'
import { normalizeVoucherSignature } from '../contract/voucherSignature.js'
import {
  hashParsedVoucher,
  parseVoucher,
} from '../contract/voucherTypedData.js'

/**
 * A function that returns the address that signed a digest, in any case.
 * `recoverAddress` of `countersign/accelerate` is one, and so is viem's.
 */
export type RecoverSigner = (parameters: {
  hash: Hex
  signature: Hex
}) => Address | undefined | Promise<Address | undefined>

/** Parameters of {@link checkVoucher}. */
export type CheckVoucherParameters = {
  chainId: number
  voucher: Voucher
  signature: Hex
  /** The channel's `payerAuthorizer`. */
  signer: Address
  /**
   * Recovers the signer, for example that of `countersign/accelerate`, which is
   * many times as fast. @default viem's
   */
  recoverAddress?: RecoverSigner | undefined
  /**
   * Hash function, for example that of `countersign/accelerate`.
   * @default viem's
   */
  keccak256?: Keccak256 | undefined
}

/** Whether the signer's key signed a voucher. */
export type VoucherVerdict =
  | {
      ok: true
      /**
       * The signature in the only form that the contract accepts. Store this
       * one, not the one received.
       */
      signature: Hex
    }
  | { ok: false; reason: 'malformedSignature' | 'wrongSigner' }

/**
 * Checks that a key signed a voucher. Asks no node. Says nothing of the
 * channel's balance, nor whether the amount is the expected one.
 *
 * `malformedSignature`: no key makes such a signature, or the contract would
 * refuse each form of it. `wrongSigner`: another key signed, or another voucher,
 * chain or contract was signed. Refuses contract wallets (ERC-1271), which can
 * deny a signature before it is claimed.
 *
 * @throws {@link InvalidFieldError} when another field than `signature` is
 * malformed, or `signer` is the zero address.
 *
 * @example
 * ```ts
 * import { loadAccelerator } from 'countersign/accelerate'
 * import { type ChannelConfig, checkVoucher, type SignedVoucher } from 'countersign/channels'
 *
 * const { recoverAddress, keccak256 } = await loadAccelerator()
 *
 * export async function accept(
 *   { payerAuthorizer }: ChannelConfig,
 *   { signature, ...voucher }: SignedVoucher,
 * ) {
 *   const verdict = await checkVoucher({
 *     chainId: 8453,
 *     voucher,
 *     signature,
 *     signer: payerAuthorizer,
 *     recoverAddress,
 *     keccak256,
 *   })
 *   return verdict.ok ? verdict.signature : undefined
 * }
 * ```
 */
export async function checkVoucher(
  parameters: CheckVoucherParameters,
): Promise<VoucherVerdict> {
  checkMembers(parameters, [
    'chainId',
    'voucher',
    'signature',
    'signer',
    'recoverAddress',
    'keccak256',
  ])
  const given: CheckVoucherParameters = Object(parameters)
  const {
    keccak256 = viemKeccak256,
    recoverAddress: recover = recoverAddress,
  } = given
  checkKeccak(keccak256)
  if (typeof recover !== 'function')
    throw new InvalidFieldError('recoverAddress', shown(recover), 'a function')
  const chainId = parsePositiveInteger(given.chainId, 'chainId')
  const voucher = parseVoucher(given.voucher)
  const signer = parseSigner(given.signer)
  const signature = normalizeVoucherSignature(given.signature)
  if (!signature) return { ok: false, reason: 'malformedSignature' }

  const hash = hashParsedVoucher(voucher, chainId, keccak256)
  const found = await recoverSigner(recover, hash, signature)
  return found === signer
    ? { ok: true, signature }
    : { ok: false, reason: 'wrongSigner' }
}

function parseSigner(value: unknown): Address {
  const signer = parseAddress(value, 'signer')
  if (BigInt(signer)) return signer
  throw new InvalidFieldError('signer', shown(value), 'not the zero address')
}

/** Returns the signer, or `undefined` if the curve has no such point. */
async function recoverSigner(
  recover: RecoverSigner,
  hash: Hex,
  signature: Hex,
): Promise<string | undefined> {
  try {
    return (await recover({ hash, signature }))?.toLowerCase()
  } catch {
    return undefined
  }
}
