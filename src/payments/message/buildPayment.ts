import type { Address, Hex } from 'viem'
import { parseAmount } from '../../core/amount.js'
import { checkMembers } from '../../core/checkMembers.js'
import { checkUnit, parseTime } from '../../core/clock.js'
import { drawNonce } from '../../core/drawNonce.js'
import { InvalidFieldError, shown } from '../../core/errors.js'
import { parsePayment } from '../../core/fields.js'
import type { Payment, PrimaryType, TokenDomain } from '../../core/types.js'

/**
 * Seconds by which the default `validAfter` lies in the past, because the
 * chain's clock may be behind this machine's.
 */
const secondsBefore = 60n

/** Seconds from now until the default `validBefore`. */
const windowSeconds = 900n

/** Token, accounts, amount and window for {@link buildPayment}. */
export type BuildPaymentParameters = {
  /** The token's EIP-712 domain, as `getToken` proves it. */
  domain: TokenDomain
  /** Decimals of the token. @default 6 */
  decimals?: number | undefined
  /** Account that pays. */
  from: Address
  /** Account that is paid. */
  to: Address
  /** A decimal such as `'12.50'`, in whole tokens. */
  amount: string
  /** Type of the message. @default 'ReceiveWithAuthorization' */
  primaryType?: PrimaryType | undefined
  /**
   * Unix seconds from which the default window counts.
   * @default the wall clock
   */
  now?: bigint | undefined
  /**
   * Unix seconds. The payment can be captured only after this time.
   * @default `now` - 60
   */
  validAfter?: bigint | undefined
  /**
   * Unix seconds. The payment can be captured only before this time.
   * @default `now` + 900
   */
  validBefore?: bigint | undefined
  /** 32 bytes, never used before. @default random bytes from Web Crypto */
  nonce?: Hex | undefined
}

/**
 * Builds the message a payer signs for one order.
 *
 * Nothing is reserved: the payer can still move the funds before capture.
 *
 * @throws {@link InvalidAmountError} when `amount` is not a positive decimal
 * the token can represent.
 * @throws {@link InvalidFieldError} when another field is malformed, payer and
 * recipient are the same, or the window is empty.
 * @throws {@link NoRandomnessError} when no nonce is given and there is no Web
 * Crypto.
 *
 * @example
 * ```ts
 * import { buildPayment } from 'countersign'
 *
 * const payment = buildPayment({
 *   domain: {
 *     name: 'USD Coin',
 *     version: '2',
 *     chainId: 8453,
 *     verifyingContract: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
 *   },
 *   from: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
 *   to: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
 *   amount: '12.50',
 * })
 * ```
 */
export function buildPayment(parameters: BuildPaymentParameters): Payment {
  checkMembers(parameters, [
    'domain',
    'decimals',
    'from',
    'to',
    'amount',
    'primaryType',
    'now',
    'validAfter',
    'validBefore',
    'nonce',
  ])
  const now = parseTime(parameters.now)
  const {
    domain,
    decimals = 6,
    from,
    to,
    amount,
    primaryType = 'ReceiveWithAuthorization',
    validAfter = now - secondsBefore,
    validBefore = now + windowSeconds,
    nonce = drawNonce(),
  } = parameters
  checkUnit(validAfter, 'validAfter')
  checkUnit(validBefore, 'validBefore')
  const payment: Payment = parsePayment({
    primaryType,
    domain,
    message: {
      from,
      to,
      value: parseAmount(amount, decimals),
      validAfter,
      validBefore,
      nonce,
    },
  })
  const { message } = payment
  if (message.from === message.to)
    throw new InvalidFieldError(
      'to',
      shown(to),
      'another account than the payer',
    )
  if (validBefore - validAfter < 2n)
    throw new InvalidFieldError(
      'validBefore',
      shown(validBefore),
      `at least 2 seconds after validAfter, which is ${validAfter}`,
    )
  return payment
}
