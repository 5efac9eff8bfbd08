import { bytesToHex, type Hex } from 'viem'
import { checkMembers, type MembersOf } from '../../core/checkMembers.js'
import {
  InvalidFieldError,
  invalidSignature,
  shown,
} from '../../core/errors.js'
import { parsePositiveInteger } from '../../core/fields.js'
import {
  checkKeccak,
  type Keccak256,
  viemKeccak256,
} from '../../core/keccak.js'
import type { TokenDomain } from '../../core/types.js'
import { word } from '../../core/words.js'
import { channelDigest, structHash } from './channelDigest.js'
import { channelDomain } from './channelDomain.js'
import { hashParsedConfig } from './hashChannelConfig.js'
import { parseChannelConfig } from './parseChannelConfig.js'
import { parseObject, parseUnits } from './parseValues.js'
import type { ClaimRow } from './types.js'
import { normalizeVoucherSignature } from './voucherSignature.js'

/** The EIP-712 types of a claim. */
export const claimTypes = {
  ClaimBatch: [{ name: 'claims', type: 'ClaimEntry[]' }],
  ClaimEntry: [
    { name: 'channelId', type: 'bytes32' },
    { name: 'maxClaimableAmount', type: 'uint128' },
    { name: 'totalClaimed', type: 'uint128' },
  ],
} as const

/** Rows of a claim and their chain. */
export type ClaimTypedDataParameters = {
  chainId: number
  /**
   * All of one `receiverAuthorizer`, in the sequence in which the call has them.
   */
  rows: readonly ClaimRow[]
}

/** Typed data of a claim, to pass to `signTypedData` of `receiverAuthorizer`. */
export type ClaimTypedData = {
  domain: TokenDomain
  types: typeof claimTypes
  primaryType: 'ClaimBatch'
  message: {
    claims: readonly {
      channelId: Hex
      maxClaimableAmount: bigint
      totalClaimed: bigint
    }[]
  }
}

/**
 * The typed data of a claim, which the receiver's authorizer signs for
 * `claimWithSignatureCall`.
 *
 * @throws {@link InvalidFieldError} when a field is malformed, or the rows have
 * more than one `receiverAuthorizer`.
 *
 * @example
 * ```ts
 * import { type ClaimRow, claimTypedData } from 'countersign/channels'
 *
 * export const request = (rows: readonly ClaimRow[]) =>
 *   claimTypedData({ chainId: 8453, rows })
 * ```
 */
export function claimTypedData(
  parameters: ClaimTypedDataParameters,
): ClaimTypedData {
  checkMembers(parameters, ['chainId', 'rows'])
  const given: ClaimTypedDataParameters = Object(parameters)
  const domain = channelDomain(given.chainId)
  const claims = parseSignedRows(given.rows).map((row) => ({
    channelId: hashParsedConfig(row.config, domain.chainId),
    maxClaimableAmount: row.maxClaimable,
    totalClaimed: row.claimed,
  }))
  return {
    domain,
    types: claimTypes,
    primaryType: 'ClaimBatch',
    message: { claims },
  }
}

/** Parameters of {@link hashClaim}. */
export type HashClaimParameters = ClaimTypedDataParameters & {
  /**
   * Hash function, for example that of `countersign/accelerate`.
   * @default viem's
   */
  keccak256?: Keccak256 | undefined
}

/**
 * Hashes a claim as the receiver's authorizer signs it (EIP-712). The
 * contract's `getClaimBatchDigest` returns the same.
 *
 * @throws {@link InvalidFieldError} when a field is malformed, or the rows have
 * more than one `receiverAuthorizer`.
 *
 * @example
 * ```ts
 * import { type ClaimRow, hashClaim } from 'countersign/channels'
 *
 * export const digestOf = (rows: readonly ClaimRow[]) =>
 *   hashClaim({ chainId: 8453, rows })
 * ```
 */
export function hashClaim(parameters: HashClaimParameters): Hex {
  checkMembers(parameters, ['chainId', 'rows', 'keccak256'])
  const given: HashClaimParameters = Object(parameters)
  const { keccak256 = viemKeccak256 } = given
  checkKeccak(keccak256)
  const chainId = parsePositiveInteger(given.chainId, 'chainId')
  const rows = parseSignedRows(given.rows)
  const hashes = new Uint8Array(32 * rows.length)
  for (const [index, row] of rows.entries()) {
    const { config, maxClaimable, claimed } = row
    const id = hashParsedConfig(config, chainId, keccak256)
    const words = word(id) + word(maxClaimable) + word(claimed)
    hashes.set(structHash('ClaimEntry', words, keccak256), 32 * index)
  }
  const claims = word(bytesToHex(keccak256(hashes)))
  const struct = structHash('ClaimBatch', claims, keccak256)
  return channelDigest(chainId, struct, keccak256)
}

const members: MembersOf<ClaimRow> = {
  config: true,
  maxClaimable: true,
  signature: true,
  claimed: true,
}

/**
 * Parses the rows of a claim. Signatures come out in the form that the contract
 * accepts.
 *
 * @throws {@link InvalidFieldError} that names the first malformed member.
 */
export function parseClaimRows(value: unknown): ClaimRow[] {
  if (!Array.isArray(value) || value.length === 0)
    throw new InvalidFieldError('rows', value, 'a list of at least one row')
  return value.map((row, index) => parseRow(row, `rows[${index}]`))
}

/** Like {@link parseClaimRows}, for rows that one authorizer signs together. */
export function parseSignedRows(value: unknown): ClaimRow[] {
  const rows = parseClaimRows(value)
  const signer = rows[0]?.config.receiverAuthorizer
  for (const [index, { config }] of rows.entries())
    if (config.receiverAuthorizer !== signer)
      throw new InvalidFieldError(
        `rows[${index}].config.receiverAuthorizer`,
        shown(config.receiverAuthorizer),
        `that of the first row, ${signer}`,
      )
  return rows
}

function parseRow(value: unknown, field: string): ClaimRow {
  const given = parseObject(value, field)
  checkMembers<object>(given, members, field)
  const maxClaimable = parseUnits(given.maxClaimable, `${field}.maxClaimable`)
  const claimed = parseUnits(given.claimed, `${field}.claimed`)
  if (claimed > maxClaimable)
    throw new InvalidFieldError(
      `${field}.claimed`,
      shown(claimed),
      `at most maxClaimable, which is ${maxClaimable}`,
    )
  return {
    config: parseChannelConfig(given.config, `${field}.config`),
    maxClaimable,
    signature: parseKeySignature(given.signature, `${field}.signature`),
    claimed,
  }
}

/**
 * Parses the signature of a key into the form that the contract accepts. Its
 * errors never contain the signature.
 */
export function parseKeySignature(value: unknown, field: string): Hex {
  const signature = normalizeVoucherSignature(value as Hex)
  if (signature) return signature
  throw invalidSignature(field, value, 'a signature of a key, 65 bytes in hex')
}
