import { type Hex, keccak256 } from 'viem'
import { formatAmount } from '../../core/amount.js'
import { checkMembers } from '../../core/checkMembers.js'
import { drawNonce } from '../../core/drawNonce.js'
import { InvalidFieldError, shown } from '../../core/errors.js'
import { parseBytes32 } from '../../core/fields.js'
import type { Payment, TokenDomain } from '../../core/types.js'
import { word } from '../../core/words.js'
import { buildPayment } from '../../payments/message/buildPayment.js'
import { depositCollector } from './channelDomain.js'
import { hashParsedConfig } from './hashChannelConfig.js'
import { parseChannelConfig } from './parseChannelConfig.js'
import { parseUnits } from './parseValues.js'
import type { ChannelConfig } from './types.js'

/** Parameters of {@link buildDeposit}: pass either `amount` or `value`. */
export type BuildDepositParameters = {
  config: ChannelConfig
  /** The token's EIP-712 domain, as `getToken` proves it. */
  domain: TokenDomain
  /** A decimal such as `'1.00'`, in whole tokens. */
  amount?: string | undefined
  /** Decimals of the token, for `amount`. @default 6 */
  decimals?: number | undefined
  /** Base units of the token. */
  value?: bigint | undefined
  /**
   * Unix seconds from which the default window counts.
   * @default the wall clock
   */
  now?: bigint | undefined
  /**
   * Unix seconds. The deposit can be made only after this time.
   * @default `now` - 60
   */
  validAfter?: bigint | undefined
  /**
   * Unix seconds. The deposit can be made only before this time.
   * @default `now` + 900
   */
  validBefore?: bigint | undefined
  /** 32 bytes, never used before. @default random bytes from Web Crypto */
  salt?: Hex | undefined
}

/** A deposit to sign. */
export type Deposit = {
  /**
   * A `ReceiveWithAuthorization` to the deposit collector. Its nonce binds it to
   * one channel.
   */
  payment: Payment
  /** What the nonce was made of beside the channel id. `depositCall` needs it. */
  salt: Hex
}

/**
 * Builds the EIP-3009 message with which a payer deposits into a channel. Sign
 * it as any payment, then send it with `depositCall`.
 *
 * @throws {@link InvalidAmountError} when `amount` is not a positive decimal
 * the token can represent.
 * @throws {@link InvalidFieldError} when another field is malformed, the token
 * is not that of the channel, or the window is empty.
 * @throws {@link NoRandomnessError} when no salt is given and there is no Web
 * Crypto.
 *
 * @example
 * ```ts
 * import { buildDeposit, type ChannelConfig } from 'countersign/channels'
 *
 * export const draft = (config: ChannelConfig) =>
 *   buildDeposit({
 *     config,
 *     domain: {
 *       name: 'USD Coin',
 *       version: '2',
 *       chainId: 8453,
 *       verifyingContract: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
 *     },
 *     amount: '1.00',
 *   })
 * ```
 */
export function buildDeposit(parameters: BuildDepositParameters): Deposit {
  checkMembers(parameters, [
    'config',
    'domain',
    'amount',
    'decimals',
    'value',
    'now',
    'validAfter',
    'validBefore',
    'salt',
  ])
  const given: BuildDepositParameters = Object(parameters)
  const { domain, decimals, now, validAfter, validBefore } = given
  const config = parseChannelConfig(given.config)
  const salt = parseBytes32(given.salt ?? drawNonce(), 'salt')
  const payment = buildPayment({
    domain,
    decimals,
    from: config.payer,
    to: depositCollector,
    amount: amountOf(given),
    now,
    validAfter,
    validBefore,
    // Replaced below: the nonce contains the chain id, which is checked here.
    nonce: salt,
  })
  const { chainId, verifyingContract } = payment.domain
  if (verifyingContract !== config.token)
    throw new InvalidFieldError(
      'domain.verifyingContract',
      shown(verifyingContract),
      `the token of the channel, ${config.token}`,
    )
  parseUnits(payment.message.value, 'value')
  const nonce = depositNonce(hashParsedConfig(config, chainId), salt)
  return {
    payment: { ...payment, message: { ...payment.message, nonce } },
    salt,
  }
}

/** The EIP-3009 nonce that the collector computes for a deposit. */
export function depositNonce(channelId: Hex, salt: Hex): Hex {
  return keccak256(`0x${word(channelId)}${word(salt)}`)
}

function amountOf({ amount, value, decimals }: BuildDepositParameters): string {
  if (value === undefined) return amount as string
  if (amount !== undefined)
    throw new InvalidFieldError('amount', shown(amount), 'left out with value')
  return formatAmount(parseUnits(value, 'value', 1n), decimals)
}
