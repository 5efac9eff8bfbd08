import type { Hex } from 'viem'
import type { ChannelConfig } from '../../channels/engine.js'
import { parseChannelConfig } from '../../channels/engine.js'
import { InvalidFieldError } from '../../core/errors.js'
import { parseBytes32 } from '../../core/fields.js'
import type { ChannelErrorCode } from '../wire/errorCodes.js'
import { isObject } from '../wire/headers.js'

/** A deposit as a client asks for it. Amounts in base units. */
export type AskedDeposit = {
  value: bigint
  /** Unix seconds. Both ends are exclusive. */
  validAfter: bigint
  validBefore: bigint
  /** 32 bytes. With the channel id they make the EIP-3009 nonce. */
  salt: Hex
  signature: Hex
}

/** A payload of the scheme `batch-settlement`. Nothing in it is proven yet. */
export type ChannelPayload = {
  type: 'deposit' | 'voucher' | 'refund'
  config: ChannelConfig
  /** The id that the voucher names, in lower case. */
  id: Hex
  /** Cumulative amount of the voucher, in base units. */
  maxClaimable: bigint
  /** Signature of the voucher. */
  signature: Hex
  /** Absent unless `type` is `deposit`. */
  deposit: AskedDeposit | undefined
  /**
   * Base units that a refund asks for. Absent for everything that is left, and
   * unless `type` is `refund`.
   */
  refund: bigint | undefined
}

/** A parsed payload, or the code by which it is refused. */
export type ParsedPayload =
  | { ok: true; payload: ChannelPayload }
  | { ok: false; code: ChannelErrorCode }

const prefix = 'invalid_batch_settlement_evm_'

/**
 * Parses a payload of the scheme `batch-settlement`: exactly the known members,
 * amounts in digits alone.
 */
export function parsePayload(
  payload: Readonly<Record<string, unknown>>,
): ParsedPayload {
  const { type } = payload
  const code: ChannelErrorCode =
    type === 'refund' ? `${prefix}refund_payload` : `${prefix}payload_type`
  if (type !== 'deposit' && type !== 'voucher' && type !== 'refund')
    return { ok: false, code }
  if (type === 'deposit' && !hasErc3009(payload.deposit))
    return { ok: false, code: `${prefix}erc3009_authorization_required` }
  try {
    const { voucher } = payload
    const named = takeMembers(voucher, [
      'channelId',
      'maxClaimableAmount',
      'signature',
    ])
    takeMembers(payload, ['type', 'channelConfig', 'voucher', ...others[type]])
    const { amount } = payload
    return {
      ok: true,
      payload: {
        type,
        config: parseChannelConfig(payload.channelConfig, 'channelConfig'),
        id: parseBytes32(named.channelId, 'channelId'),
        maxClaimable: parseUnits(named.maxClaimableAmount),
        signature: parseHex(named.signature),
        deposit: type === 'deposit' ? parseDeposit(payload.deposit) : undefined,
        refund: amount === undefined ? undefined : parseUnits(amount),
      },
    }
  } catch (error) {
    if (error instanceof InvalidFieldError) return { ok: false, code }
    throw error
  }
}

/** Members beside those that every payload has. `?`: may be absent. */
const others = {
  deposit: ['deposit'],
  voucher: [],
  refund: ['amount?'],
} as const

const hasErc3009 = (deposit: unknown): boolean =>
  isObject(deposit) &&
  isObject(deposit.authorization) &&
  isObject(deposit.authorization.erc3009Authorization)

function parseDeposit(value: unknown): AskedDeposit {
  const deposit = takeMembers(value, ['amount', 'authorization'])
  const { erc3009Authorization } = takeMembers(deposit.authorization, [
    'erc3009Authorization',
  ])
  const { validAfter, validBefore, salt, signature } = takeMembers(
    erc3009Authorization,
    ['validAfter', 'validBefore', 'salt', 'signature'],
  )
  return {
    value: parseUnits(deposit.amount),
    validAfter: parseUnits(validAfter),
    validBefore: parseUnits(validBefore),
    salt: parseBytes32(salt, 'salt'),
    signature: parseHex(signature),
  }
}

/** Returns an object that has exactly these members. */
function takeMembers(
  value: unknown,
  names: readonly string[],
): Record<string, unknown> {
  const known = names.map((name) => name.replace('?', ''))
  const isExact =
    isObject(value) &&
    Object.keys(value).every((key) => known.includes(key)) &&
    names.every((name) => name.endsWith('?') || Object.hasOwn(value, name))
  if (isExact) return value
  throw new InvalidFieldError('payload', value, `an object of ${known.join()}`)
}

/** Parses an unsigned integer of 128 bits, written in digits alone. */
function parseUnits(value: unknown): bigint {
  if (typeof value === 'string' && /^(0|[1-9]\d{0,38})$/.test(value)) {
    const units = BigInt(value)
    if (!(units >> 128n)) return units
  }
  throw new InvalidFieldError('payload', value, 'digits')
}

function parseHex(value: unknown): Hex {
  if (typeof value === 'string' && /^0x([\da-f]{2}){1,1024}$/i.test(value))
    return value.toLowerCase() as Hex
  throw new InvalidFieldError('payload', value, 'hex')
}
