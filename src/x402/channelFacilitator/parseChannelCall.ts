import type { PaymentRequirements } from '@x402/core/types'
import type { Address, Hex } from 'viem'
import {
  hashParsedConfig,
  normalizeVoucherSignature,
  type PlannedRow,
  parseChannelConfig,
} from '../../channels/engine.js'
import { InvalidFieldError } from '../../core/errors.js'
import { parseAddress } from '../../core/fields.js'
import { type ChannelPayload, parsePayload } from '../channel/parsePayload.js'
import type { X402ErrorCode } from '../wire/errorCodes.js'
import { isObject } from '../wire/headers.js'
import { chainIdOf, channelScheme } from '../wire/requirements.js'

/** What a server adds to the refund that a client asks for. */
export type RefundTerms = {
  refundNonce: bigint
  /** The claim that must come first; absent if everything is claimed. */
  claim: PlannedRow | undefined
  /** Signatures of the server's own authorizer. */
  refundSignature: Hex | undefined
  claimSignature: Hex | undefined
}

/** What a server asks for. Nothing in it is checked against the chain. */
type ChannelAsk =
  | { type: 'deposit' | 'voucher' | 'refund'; payload: ChannelPayload }
  | { type: 'refundNow'; payload: ChannelPayload; terms: RefundTerms }
  | {
      type: 'claim'
      rows: readonly PlannedRow[]
      /** Signature of the server's own authorizer. */
      signature: Hex | undefined
    }
  | { type: 'settle'; receiver: Address; token: Address }

/** A parsed call, and the requirements that it names. */
export type WantedCall = {
  chainId: number
  token: Address
  recipient: Address
  extra: Readonly<Record<string, unknown>>
  ask: ChannelAsk
}

/** Fields of the request that the answer contains unchanged. */
type Repeated = {
  network: PaymentRequirements['network']
  payer: string | undefined
}

/** The parsed call, or the error code of a malformed one. */
export type ParsedChannelCall = Repeated &
  ({ ok: true; call: WantedCall } | { ok: false; code: X402ErrorCode })

const prefix = 'invalid_batch_settlement_evm_'

/** Most claims in one call, which become one transaction. */
const mostClaims = 100

/** Parses the body of a call of the scheme `batch-settlement`. */
export function parseChannelCall(
  body: unknown,
  route: 'verify' | 'settle',
): ParsedChannelCall {
  const { x402Version, paymentPayload, paymentRequirements } = objectOf(body)
  const { accepted, payload: given } = objectOf(paymentPayload)
  const requirements = objectOf(paymentRequirements)
  const payload = objectOf(given)
  const { network } = requirements
  const repeated: Repeated = {
    network: isNetwork(network) ? network : 'eip155:0',
    payer: payerOf(payload),
  }
  const refuse = (code: X402ErrorCode): ParsedChannelCall => ({
    ...repeated,
    ok: false,
    code,
  })
  const versions = [x402Version ?? 2, objectOf(paymentPayload).x402Version]
  if (versions.some((version) => version !== 2))
    return refuse('invalid_x402_version')
  const { scheme, network: acceptedNetwork } = objectOf(accepted)
  if (scheme !== channelScheme || requirements.scheme !== channelScheme)
    return refuse(`${prefix}scheme`)
  if (acceptedNetwork !== network) return refuse(`${prefix}network_mismatch`)
  const chainId = isNetwork(network) ? chainIdOf(network) : undefined
  if (chainId === undefined) return refuse('invalid_network')
  const token = addressOf(requirements.asset)
  const recipient = addressOf(requirements.payTo)
  if (!token || !recipient || !isDigits(requirements.amount))
    return refuse('invalid_payment_requirements')
  const asked = parseAsk(payload, route, chainId)
  if (!asked.ok) return refuse(asked.code)
  const { ask } = asked
  const extra = objectOf(requirements.extra)
  const call = { chainId, token, recipient, extra, ask }
  return { ...repeated, ok: true, call }
}

type ParsedAsk =
  | { ok: true; ask: ChannelAsk }
  | { ok: false; code: X402ErrorCode }

function parseAsk(
  payload: Record<string, unknown>,
  route: 'verify' | 'settle',
  chainId: number,
): ParsedAsk {
  const { type } = payload
  const refuse = (code: X402ErrorCode): ParsedAsk => ({ ok: false, code })
  try {
    if (route === 'settle' && type === 'settle') {
      const receiver = parseAddress(payload.receiver, 'receiver')
      const token = parseAddress(payload.token, 'token')
      return { ok: true, ask: { type, receiver, token } }
    }
    if (route === 'settle' && type === 'claim') {
      const rows = parseRows(payload.claims, chainId)
      const signature = parseSignature(payload.claimAuthorizerSignature)
      if (rows.length === 0) throw malformed(payload.claims)
      return { ok: true, ask: { type, rows, signature } }
    }
    if (route === 'settle' && type === 'refund')
      return parseRefund(payload, chainId)
    if (route === 'settle' && type === 'voucher')
      return refuse(`${prefix}payload_type`)
    const parsed = parsePayload(payload)
    if (!parsed.ok) return parsed
    return {
      ok: true,
      ask: { type: parsed.payload.type, payload: parsed.payload },
    }
  } catch (error) {
    if (!(error instanceof InvalidFieldError)) throw error
    return refuse(
      type === 'refund' ? `${prefix}refund_payload` : `${prefix}payload_type`,
    )
  }
}

function parseRefund(
  payload: Record<string, unknown>,
  chainId: number,
): ParsedAsk {
  const { type, channelConfig, voucher, amount } = payload
  const parsed = parsePayload({ type, channelConfig, voucher, amount })
  if (!parsed.ok) return parsed
  if (parsed.payload.refund === undefined) throw malformed(amount)
  const rows = parseRows(payload.claims, chainId)
  const [claim] = rows
  const isOther = claim !== undefined && claim.channelId !== parsed.payload.id
  if (rows.length > 1 || isOther) throw malformed(payload.claims)
  const terms: RefundTerms = {
    refundNonce: parseUnits(payload.refundNonce),
    claim,
    refundSignature: parseSignature(payload.refundAuthorizerSignature),
    claimSignature: parseSignature(payload.claimAuthorizerSignature),
  }
  const ask = { type: 'refundNow', payload: parsed.payload, terms } as const
  return { ok: true, ask }
}

function parseRows(value: unknown, chainId: number): PlannedRow[] {
  if (!Array.isArray(value) || value.length > mostClaims) throw malformed(value)
  const rows = value.map((row) => parseRow(row, chainId))
  const ids = new Set(rows.map(({ channelId }) => channelId))
  if (ids.size < rows.length) throw malformed(value)
  return rows
}

/**
 * Parses one claim. Brings the voucher's signature into the form that the
 * contract takes: stock servers store others too, and a single one of them makes
 * the whole transaction fail.
 */
function parseRow(value: unknown, chainId: number): PlannedRow {
  const { voucher, signature, totalClaimed } = objectOf(value)
  const { channel, maxClaimableAmount } = objectOf(voucher)
  const config = parseChannelConfig(channel, 'channel')
  const maxClaimable = parseUnits(maxClaimableAmount)
  const claimed = parseUnits(totalClaimed)
  const normal = parseSignature(withPlainParity(signature))
  if (normal === undefined || claimed > maxClaimable) throw malformed(value)
  return {
    channelId: hashParsedConfig(config, chainId),
    config,
    maxClaimable,
    signature: normal,
    claimed,
  }
}

/**
 * Writes the parity at the end of a signature as 27 or 28 in one byte. Stock
 * servers also store 0 or 1, in any number of bytes.
 */
function withPlainParity(signature: unknown): unknown {
  const text = String(signature).toLowerCase()
  const [, start, end] = /^(0x[\da-f]{128})([\da-f]+)$/.exec(text) ?? []
  const parity = Number(`0x${end}`) % 27
  return start === undefined || parity > 1
    ? signature
    : `${start}${parity ? '1c' : '1b'}`
}

/** Parses the signature of a key; `undefined` if there is none. */
function parseSignature(value: unknown): Hex | undefined {
  if (value === undefined || value === null) return undefined
  const normal = normalizeVoucherSignature(value as Hex)
  if (normal === undefined) throw malformed(undefined)
  return normal
}

/** Parses an unsigned integer of 128 bits, written in digits alone. */
function parseUnits(value: unknown): bigint {
  if (isDigits(value) && !(BigInt(value) >> 128n)) return BigInt(value)
  throw malformed(value)
}

const malformed = (value: unknown): InvalidFieldError =>
  new InvalidFieldError('payload', value, 'of the scheme batch-settlement')

const objectOf = (value: unknown): Record<string, unknown> =>
  isObject(value) ? value : {}

const isDigits = (value: unknown): value is string =>
  typeof value === 'string' && /^(0|[1-9]\d{0,38})$/.test(value)

const isNetwork = (value: unknown): value is `${string}:${string}` =>
  typeof value === 'string' && /^[-a-z\d]{3,8}:[-\w]{1,32}$/i.test(value)

/**
 * Returns the payer as it was sent, but only if it is an address: any other
 * text may be a secret that the client put in the wrong field.
 */
function payerOf({
  channelConfig,
}: Record<string, unknown>): string | undefined {
  const { payer } = objectOf(channelConfig)
  return typeof payer === 'string' && addressOf(payer) ? payer : undefined
}

function addressOf(value: unknown): Address | undefined {
  try {
    return parseAddress(value, 'address')
  } catch (error) {
    if (error instanceof InvalidFieldError) return undefined
    throw error
  }
}
