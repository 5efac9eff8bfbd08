import type { Address, Hex } from 'viem'
import { parseAmount } from '../../core/amount.js'
import { checkMembers, type MembersOf } from '../../core/checkMembers.js'
import { parseTime } from '../../core/clock.js'
import { parseAddress } from '../../core/fields.js'
import type { AnyPayment, Payment, PrimaryType } from '../../core/types.js'
import {
  eip3009Signing,
  expectedOf,
  type SigningKind,
} from '../message/kind.js'
import { checkExpected, domainChecks } from './checkExpected.js'
import { UnexpectedPaymentError } from './errors.js'
import { signWithWallet, type Wallet } from './signWithWallet.js'

/** What the page expects of the payment, from its own configuration. */
export type SignPaymentExpectation = {
  chainId: number
  /** Address of the token contract. */
  token: Address
  /**
   * Name in the token's EIP-712 domain, which the wallet shows. @default the
   * name in `knownTokens`; any name if the token is not there
   */
  name?: string | undefined
  /**
   * Version in the token's EIP-712 domain.
   * @default the version in `knownTokens`; any version if the token is not
   * there
   */
  version?: string | undefined
  /** Account that must be paid. */
  to: Address
  /** A decimal such as `'12.50'`, in whole tokens. */
  amount: string
  /** Decimals of the token. @default 6 */
  decimals?: number | undefined
  /** Type of the message to sign. @default 'ReceiveWithAuthorization' */
  primaryType?: PrimaryType | undefined
  /**
   * Longest accepted time from now until `validBefore`, in seconds. Choose it a
   * little longer than your window, because the buyer's clock may be slow.
   * @default 86_400n
   */
  maxWindow?: bigint | undefined
}

/**
 * What the page expects of a payment with a ceiling, whose amount is decided at
 * the capture.
 */
export type SignCeilingExpectation = Omit<
  SignPaymentExpectation,
  'amount' | 'primaryType'
> & {
  /**
   * The largest amount that can be captured, such as `'50.00'`, in whole
   * tokens.
   */
  atMost: string
  /**
   * The only account that can capture the payment.
   * @default the recipient
   */
  operator?: Address | undefined
}

const expectationMembers: MembersOf<Omit<SignPaymentExpectation, 'amount'>> = {
  chainId: true,
  token: true,
  name: true,
  version: true,
  to: true,
  decimals: true,
  primaryType: true,
  maxWindow: true,
}

/** The payment to sign, and what {@link signPayment} checks first. */
export type SignPaymentParameters<payment extends AnyPayment = Payment> = {
  /** The payment to sign, usually drafted by the merchant's server. */
  payment: payment
  /**
   * Take these values from the page, never from the response that contained the
   * payment.
   */
  expect: SignPaymentExpectation | SignCeilingExpectation
  /** Pass `checkout` for a checkout payment. @default EIP-3009 */
  kind?: SigningKind | undefined
  /**
   * Unix seconds from which the window is measured.
   * @default the wall clock
   */
  now?: bigint | undefined
  /**
   * Ends the wait for the wallet. The wallet may still show its window; if it
   * then signs, the signature is dropped.
   */
  signal?: AbortSignal | undefined
}

const members: MembersOf<SignPaymentParameters> = {
  payment: true,
  expect: true,
  kind: true,
  now: true,
  signal: true,
}

/**
 * Longest accepted time until `validBefore` in seconds, if the page sets no
 * limit: one day.
 */
const usualWindow = 86_400n

/**
 * Checks that a payment is the expected one (chain, token and its name, type,
 * recipient, amount and window), then asks a wallet to sign it.
 *
 * Signing moves nothing and reserves nothing. The result is a credential: with
 * it, the recipient or operator can capture the payment, and anyone can if its
 * type is `TransferWithAuthorization`. The merchant checks the signer with
 * `verifyPayment`.
 *
 * @throws {@link UnexpectedPaymentError} when the payment is not the expected
 * one; the wallet was not asked.
 * @throws {@link WrongWalletError} when the wallet is on another chain or
 * account.
 * @throws {@link SigningDeclinedError} when the user declines.
 * @throws {@link WalletError} when the wallet fails or returns no signature.
 * @throws {@link InvalidFieldError} {@link InvalidAmountError} when payment or
 * expectation are malformed.
 * @throws the reason of `signal` when that aborts.
 *
 * @example
 * ```ts
 * import { decodePayment, signPayment } from 'countersign'
 * import { createWalletClient, custom, type EIP1193Provider } from 'viem'
 *
 * const pay = async (provider: EIP1193Provider, json: string) =>
 *   signPayment(createWalletClient({ transport: custom(provider) }), {
 *     payment: decodePayment(json),
 *     expect: {
 *       chainId: 8453,
 *       token: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
 *       to: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
 *       amount: '12.50',
 *     },
 *   })
 * ```
 */
export async function signPayment<payment extends AnyPayment>(
  wallet: Wallet,
  parameters: SignPaymentParameters<payment>,
): Promise<payment & { signature: Hex }> {
  checkMembers(parameters, members)
  const given: SignPaymentParameters<payment> = Object(parameters)
  const { kind = eip3009Signing } = given
  const expected = { ...expectationMembers, ...expectedOf(kind) }
  checkMembers<object>(given.expect, expected, 'expect')
  const expect: SignPaymentExpectation & SignCeilingExpectation = Object(
    given.expect,
  )
  const payment = kind.parse(given.payment)
  const { primaryType, domain, message } = payment
  const { recipient, operator } = kind.accounts(payment)
  const { decimals, maxWindow = usualWindow } = expect
  checkExpected([
    ...domainChecks(domain, expect),
    ['primaryType', primaryType, expect.primaryType ?? kind.primaryType],
    ['to', recipient, parseAddress(expect.to, 'expect.to')],
    ['value', message.value, parseAmount(expect[kind.total], decimals)],
  ])
  if (kind.total === 'atMost') {
    const { operator: named = expect.to } = expect
    checkExpected([
      ['operator', operator, parseAddress(named, 'expect.operator')],
    ])
  }
  const window = message.validBefore - parseTime(given.now)
  // `window > maxWindow` would be false, and so accept the payment, if
  // `maxWindow` is not a number.
  if (!(window <= maxWindow))
    throw new UnexpectedPaymentError(
      'window',
      window,
      `at most ${maxWindow} seconds from now`,
    )

  const signature = await signWithWallet(
    wallet,
    kind.typedData(payment),
    message.from,
    given.signal,
  )
  // The cast is safe: `kind` parsed the caller's payment, which has this type.
  return { ...payment, signature } as unknown as payment & { signature: Hex }
}
