import type { Address, Hex } from 'viem'
import { InvalidFieldError } from '../../core/errors.js'
import { normalizeSignature } from '../../core/signature.js'
import { selectors } from '../../core/tokenAbi.js'
import {
  encodeGrant,
  type Grant,
  hashGrant,
  isSignedGrant,
  readGrant,
} from './grant.js'
import type { CaptureKey } from './types.js'

/** A decoded permission of a capture key. */
export type Permission = CaptureKey & Pick<Grant, 'nonce'>

/** The functions that a capture key may call. */
export const captureMethods = (): readonly string[] => [
  selectors.receiveVrs,
  selectors.receiveBytes,
]

/**
 * Most tokens of a permission: each capture compares its token with them, one
 * after the other.
 */
export const mostTokens = 20

/** A delegation to this address can be used by everybody. */
const anyDelegate = '0x0000000000000000000000000000000000000a11'

/** True for an address that can be the key of a treasury. */
export const isKeyFor = (key: Address, treasury: Address): boolean =>
  BigInt(key) !== 0n && key !== anyDelegate && key !== treasury

export function permissionOf(grant: Grant, signature: Hex): Permission {
  const { chainId, treasury, key, targets: tokens, validBefore, nonce } = grant
  return {
    chainId,
    treasury,
    key,
    tokens,
    validBefore,
    nonce,
    hash: hashGrant(grant),
    permission: encodeGrant(grant, signature),
  }
}

/** Most Unix seconds that JavaScript's dates reach. */
const latest = 8_640_000_000_000n

/** True for an end that a permission can have; zero would mean no end. */
export const isEnd = (validBefore: unknown): validBefore is bigint =>
  typeof validBefore === 'bigint' && validBefore > 0n && validBefore <= latest

/** True for 65 bytes in the only form that the treasury's delegate accepts. */
const isPlainSignature = (signature: Hex): boolean =>
  signature.length === 132 && normalizeSignature(signature) === signature

type Place = { chainId: number; field: string }

/**
 * Decodes a permission without asking who signed it. Accepts only what this
 * library writes, byte for byte: a delegation with other limits is refused,
 * whatever they are.
 *
 * @throws {@link InvalidFieldError}
 */
export function readPermission(given: unknown, place: Place): Permission {
  return permissionOf(...parseGrant(given, place))
}

/**
 * Decodes a permission that its treasury signed for this chain.
 *
 * @throws {@link InvalidFieldError}
 */
export async function parseSignedPermission(
  given: unknown,
  place: Place,
): Promise<Permission> {
  const [grant, signature] = parseGrant(given, place)
  if (await isSignedGrant(grant, signature))
    return permissionOf(grant, signature)
  const rule = `a permission that ${grant.treasury} signed for chain ${place.chainId}`
  throw new InvalidFieldError(place.field, given, rule)
}

function parseGrant(
  given: unknown,
  { chainId, field }: Place,
): [grant: Grant, signature: Hex] {
  const text = typeof given === 'string' ? given.toLowerCase() : ''
  if (/^0x([\da-f]{64}){30,80}$/.test(text)) {
    const { grant, signature } = readGrant(text as Hex, chainId)
    const { targets, methods, key, treasury, validBefore } = grant
    const isOurs =
      targets.length > 0 &&
      targets.length <= mostTokens &&
      methods.join() === captureMethods().join() &&
      isKeyFor(key, treasury) &&
      (validBefore === undefined || isEnd(validBefore)) &&
      isPlainSignature(signature) &&
      encodeGrant(grant, signature) === text
    if (isOurs) return [grant, signature]
  }
  throw new InvalidFieldError(field, given, 'a permission of createCaptureKey')
}
