import type { Address, Hex } from 'viem'
import { InvalidFieldError } from '../../core/errors.js'
import { parseBytes32 } from '../../core/fields.js'
import type { AnyPayment, Payment, PaymentTerms } from '../../core/types.js'
import { parseChannelConfig } from '../contract/parseChannelConfig.js'
import type { ChannelConfig, ClaimRow } from '../contract/types.js'

/** One channel of a claim, without the voucher's signature. */
type ClaimedRow = Omit<ClaimRow, 'signature'> & { channelId: Hex }

/** What a movement does, beside the payment that stands for it. */
export type MovementTerms =
  | {
      action: 'deposit'
      channelId: Hex
      config: ChannelConfig
      /** What the payment nonce was made of, beside the channel id. */
      salt: Hex
    }
  | {
      action: 'claim'
      receiver: Address
      token: Address
      /** All of one receiver, token and authorizer. Empty: only settle. */
      rows: readonly ClaimedRow[]
    }
  | {
      action: 'refund'
      channelId: Hex
      config: ChannelConfig
      /** The refund nonce that this refund uses. */
      refundNonce: bigint
      /** Base units that must be claimed before anything is refunded. */
      charged: bigint
    }

/**
 * A deposit, claim or refund, in the shape of the other payments of this
 * library. Only for a deposit is the message what the payer signed.
 */
export type ChannelMovement = Payment & { movement: MovementTerms }

export type MovementOf<action extends MovementTerms['action']> = Payment & {
  movement: Extract<MovementTerms, { action: action }>
}

/** @throws {@link InvalidFieldError} when the payment is of another kind. */
export function movementOf(payment: AnyPayment): ChannelMovement {
  if ('movement' in payment) return payment as ChannelMovement
  throw new InvalidFieldError('payment', payment, 'a movement of channels')
}

/** Encodes the terms of a movement for the store. */
export function encodeMovementTerms(terms: MovementTerms): PaymentTerms {
  const { action } = terms
  if (action === 'claim') {
    const { receiver, token, rows } = terms
    return {
      action,
      receiver,
      token,
      rows: JSON.stringify(rows.map(encodeRow)),
    }
  }
  const { channelId, config } = terms
  const shared = { action, channelId, config: JSON.stringify(config) }
  if (action === 'deposit') return { ...shared, salt: terms.salt }
  const { refundNonce, charged } = terms
  return {
    ...shared,
    refundNonce: String(refundNonce),
    charged: String(charged),
  }
}

/**
 * Decodes what {@link encodeMovementTerms} encoded.
 *
 * @throws {@link InvalidFieldError} when it is malformed.
 */
export function decodeMovementTerms(
  terms: PaymentTerms | undefined,
): MovementTerms {
  const given: Partial<PaymentTerms> = terms ?? {}
  const { action } = given
  if (action === 'claim')
    return {
      action,
      receiver: given.receiver as Address,
      token: given.token as Address,
      rows: parseJson(given.rows, 'rows', decodeRows),
    }
  if (action !== 'deposit' && action !== 'refund')
    throw new InvalidFieldError('terms', terms, 'those of a movement')
  const shared = {
    channelId: parseBytes32(given.channelId, 'terms.channelId'),
    config: parseJson(given.config, 'config', (value) =>
      parseChannelConfig(value, 'terms.config'),
    ),
  }
  return action === 'deposit'
    ? { action, ...shared, salt: parseBytes32(given.salt, 'terms.salt') }
    : {
        action,
        ...shared,
        refundNonce: parseInteger(given.refundNonce, 'refundNonce'),
        charged: parseInteger(given.charged, 'charged'),
      }
}

function encodeRow({ maxClaimable, claimed, ...row }: ClaimedRow): object {
  return {
    ...row,
    maxClaimable: String(maxClaimable),
    claimed: String(claimed),
  }
}

function decodeRows(value: unknown): ClaimedRow[] {
  if (!Array.isArray(value))
    throw new InvalidFieldError('terms.rows', value, 'a list of rows')
  return value.map((row, index) => {
    const field = `rows[${index}]`
    const { channelId, config, maxClaimable, claimed } = Object(row)
    return {
      channelId: parseBytes32(channelId, `terms.${field}.channelId`),
      config: parseChannelConfig(config, `terms.${field}.config`),
      maxClaimable: parseInteger(maxClaimable, `${field}.maxClaimable`),
      claimed: parseInteger(claimed, `${field}.claimed`),
    }
  })
}

function parseJson<value>(
  text: string | undefined,
  field: string,
  parse: (value: unknown) => value,
): value {
  if (text === undefined)
    throw new InvalidFieldError(`terms.${field}`, text, 'JSON text')
  return parse(JSON.parse(text))
}

function parseInteger(text: unknown, field: string): bigint {
  if (typeof text === 'string' && /^\d{1,78}$/.test(text)) return BigInt(text)
  throw new InvalidFieldError(`terms.${field}`, text, 'a decimal')
}
