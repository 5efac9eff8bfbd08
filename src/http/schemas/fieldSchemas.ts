import type { Address, Hex } from 'viem'
import * as z from 'zod'
import type {
  AnyPayment,
  Finality,
  PaymentTerms,
  PrimaryType,
  TokenDomain,
} from '../../core/types.js'
import type { RefundReason } from '../../orders/index.js'
import type { OrderReason, OrderState } from '../../store/types.js'

/**
 * An integer as decimal text, because a JSON number is exact only up to 2^53.
 */
export function decimalSchema(): z.ZodType<string> {
  return z
    .string()
    .regex(/^(0|[1-9][0-9]{0,77})$/, "a decimal string such as '1250000'")
}

/**
 * A block number or an event cursor: at most 18 digits, which always fit into
 * the 64-bit integers of the database.
 */
export function placeSchema(): z.ZodType<string> {
  return z
    .string()
    .regex(/^(0|[1-9][0-9]{0,17})$/, 'a number of at most 18 digits')
}

export function addressSchema(): z.ZodType<Address> {
  return hexSchema(/^0x[0-9a-fA-F]{40}$/, 'an address')
}

/** A payment nonce, or the hash of a transaction or a block. */
export function bytes32Schema(): z.ZodType<Hex> {
  return hexSchema(/^0x[0-9a-fA-F]{64}$/, '0x and 64 hex digits')
}

export function bytesSchema(): z.ZodType<Hex> {
  return hexSchema(/^0x([0-9a-fA-F]{2})*$/, 'bytes in hex')
}

export function signatureSchema(): z.ZodType<Hex> {
  return hexSchema(/^0x([0-9a-fA-F]{2}){1,16384}$/, 'a signature in hex')
}

export function primaryTypeSchema(): z.ZodType<PrimaryType> {
  return z.enum(['ReceiveWithAuthorization', 'TransferWithAuthorization'])
}

/**
 * The EIP-712 primary types of all messages that pay an order. `Permit` is used
 * by payments with a ceiling, for tokens with EIP-2612.
 */
export function anyPrimaryTypeSchema(): z.ZodType<AnyPayment['primaryType']> {
  return z.enum([
    'ReceiveWithAuthorization',
    'TransferWithAuthorization',
    'Permit',
  ])
}

/**
 * The terms of a payment with a ceiling: who is paid, and who may capture it.
 */
export function termsSchema(): z.ZodType<PaymentTerms> {
  const schema = z.strictObject({
    recipient: addressSchema(),
    operator: addressSchema(),
    // Payments by permit have no salt.
    salt: bytes32Schema().optional(),
  })
  // zod's type for an optional member also allows the value `undefined`. Parsed
  // JSON never contains it, so the cast is safe.
  return schema as unknown as z.ZodType<PaymentTerms>
}

export function domainSchema(): z.ZodType<TokenDomain> {
  return z.strictObject({
    name: z.string().max(256),
    version: z.string().max(256),
    chainId: z.int().positive(),
    verifyingContract: addressSchema(),
  })
}

/** All states of orders. The compiler checks that none is missing. */
const states: Readonly<Record<OrderState, OrderState>> = {
  drafted: 'drafted',
  stored: 'stored',
  capturing: 'capturing',
  canceling: 'canceling',
  captured: 'captured',
  voided: 'voided',
  canceled: 'canceled',
  expired: 'expired',
  consumed: 'consumed',
}

export function stateSchema(): z.ZodEnum<typeof states> {
  return z.enum(states)
}

/** All reasons of orders. The compiler checks that none is missing. */
const reasons: Readonly<Record<OrderReason, OrderReason>> = {
  malformedSignature: 'malformedSignature',
  wrongChain: 'wrongChain',
  wrongToken: 'wrongToken',
  wrongPrimaryType: 'wrongPrimaryType',
  wrongNonce: 'wrongNonce',
  wrongPayer: 'wrongPayer',
  wrongRecipient: 'wrongRecipient',
  wrongOperator: 'wrongOperator',
  selfPayment: 'selfPayment',
  windowTooLong: 'windowTooLong',
  paused: 'paused',
  payerBlocked: 'payerBlocked',
  recipientBlocked: 'recipientBlocked',
  notYetValid: 'notYetValid',
  expired: 'expired',
  consumed: 'consumed',
  wrongDomain: 'wrongDomain',
  wrongSigner: 'wrongSigner',
  walletNotDeployed: 'walletNotDeployed',
  walletRejects: 'walletRejects',
  insufficientFunds: 'insufficientFunds',
  insufficientAllowance: 'insufficientAllowance',
  unsupportedToken: 'unsupportedToken',
  checkoutNotDeployed: 'checkoutNotDeployed',
  gasTooHigh: 'gasTooHigh',
  simulationFailed: 'simulationFailed',
  wrongAmount: 'wrongAmount',
  expiresTooSoon: 'expiresTooSoon',
  wrongSubmitter: 'wrongSubmitter',
  unsimulatedWallet: 'unsimulatedWallet',
  contractPayer: 'contractPayer',
  deadlinePassed: 'deadlinePassed',
  feeTooHigh: 'feeTooHigh',
  otherPayment: 'otherPayment',
  sealBroken: 'sealBroken',
  revoked: 'revoked',
  allowanceUsed: 'allowanceUsed',
  nothingToClaim: 'nothingToClaim',
  channelWithdrawn: 'channelWithdrawn',
  unclaimedCharges: 'unclaimedCharges',
  needsReview: 'needsReview',
  replaced: 'replaced',
  voided: 'voided',
  signingDeclined: 'signingDeclined',
  walletRefused: 'walletRefused',
}

export function reasonSchema(): z.ZodType<OrderReason> {
  return z.enum(reasons)
}

/** Why a merchant refunds. */
export function refundReasonSchema(): z.ZodType<RefundReason> {
  return z.enum(['duplicate', 'fraudulent', 'requestedByCustomer'])
}

export function destinationFields(): {
  chainId: z.ZodType<number>
  token: z.ZodType<Address>
  recipient: z.ZodType<Address>
} {
  return {
    chainId: z.int(),
    token: addressSchema(),
    recipient: addressSchema(),
  }
}

export function finalitySchema(): z.ZodType<Finality> {
  return z.enum(['preconfirmed', 'included', 'safe', 'finalized'])
}

function hexSchema(form: RegExp, rule: string): z.ZodType<Hex> {
  // Every pattern starts with `0x`, so the text is a `Hex`.
  return z.string().regex(form, rule) as unknown as z.ZodType<Hex>
}
