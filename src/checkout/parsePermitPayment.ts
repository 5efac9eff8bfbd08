import { type Hex, keccak256 } from 'viem'
import { checkMembers, type MembersOf } from '../core/checkMembers.js'
import { InvalidFieldError, shown } from '../core/errors.js'
import { parseAddress, parsePayment } from '../core/fields.js'
import { hashDomain } from '../core/hashPayment.js'
import { word } from '../core/words.js'
import type { SigningPayload } from '../payments/message/paymentTypedData.js'
import { permitCheckoutAddress } from './checkoutContracts.js'
import type {
  PermitPayment,
  PermitTerms,
  SignedPermitPayment,
} from './types.js'

const members: MembersOf<PermitTerms> = {
  recipient: true,
  operator: true,
}

/**
 * Parses a permit payment, signed or not. Refuses it unless its spender is the
 * checkout contract of its recipient and operator.
 */
export function parsePermitPayment(
  value: unknown,
): PermitPayment | SignedPermitPayment {
  const { checkout, primaryType, ...rest } = Object(value)
  if (primaryType !== 'Permit')
    throw new InvalidFieldError(
      'payment.primaryType',
      shown(primaryType),
      'Permit',
    )
  // Parses the payment as one of EIP-3009, because both have the same members.
  const payment = parsePayment({
    ...rest,
    primaryType: 'ReceiveWithAuthorization',
  })
  const terms = parsePermitTerms(checkout)
  const spender = permitCheckoutAddress(terms)
  const { to } = payment.message
  if (to !== spender)
    throw new InvalidFieldError(
      'payment.message.to',
      shown(to),
      `${spender}, the checkout contract of recipient and operator`,
    )
  return { ...payment, primaryType, checkout: terms }
}

export function parsePermitTerms(value: unknown): PermitTerms {
  const field = 'payment.checkout'
  if (typeof value !== 'object' || !value)
    throw new InvalidFieldError(field, value, 'an object')
  checkMembers<object>(value, members, field)
  const { recipient, operator }: Partial<PermitTerms> = value
  return {
    recipient: parseAddress(recipient, `${field}.recipient`),
    operator: parseAddress(operator, `${field}.operator`),
  }
}

/** The message of a permit (EIP-2612). `value` is the ceiling. */
export type PermitMessage = {
  owner: string
  spender: string
  value: bigint
  nonce: bigint
  /** Unix seconds. The permit is still valid at this second. */
  deadline: bigint
}

export function permitMessage({ message }: PermitPayment): PermitMessage {
  const { from: owner, to: spender, value, nonce, validBefore } = message
  const deadline = validBefore - 1n
  return { owner, spender, value, nonce: BigInt(nonce), deadline }
}

export function permitTypedData(
  { domain }: PermitPayment,
  message: PermitMessage,
): SigningPayload {
  return {
    types: {
      EIP712Domain: [
        { name: 'name', type: 'string' },
        { name: 'version', type: 'string' },
        { name: 'chainId', type: 'uint256' },
        { name: 'verifyingContract', type: 'address' },
      ],
      Permit: [
        { name: 'owner', type: 'address' },
        { name: 'spender', type: 'address' },
        { name: 'value', type: 'uint256' },
        { name: 'nonce', type: 'uint256' },
        { name: 'deadline', type: 'uint256' },
      ],
    },
    primaryType: 'Permit',
    domain: { ...domain },
    message: { ...message },
  }
}

/**
 * The hash of `Permit(address owner,address spender,uint256 value,uint256
 * nonce,uint256 deadline)`.
 */
const permitTypeHash: Hex =
  '0x6e71edae12b1b97f4d1f60370fef10105fa2faae0126114a169c64845d6126c9'

/** Computes the hash of a permit that the payer signs (EIP-712). */
export function hashPermit(payment: PermitPayment): Hex {
  const { owner, spender, value, nonce, deadline } = permitMessage(payment)
  const words =
    word(owner) + word(spender) + word(value) + word(nonce) + word(deadline)
  const struct = keccak256(`${permitTypeHash}${words}`)
  return keccak256(
    `0x1901${hashDomain(payment.domain).slice(2)}${struct.slice(2)}`,
  )
}
