import type { Address } from 'viem'
import { parseAmount } from '../base/amount.js'
import { readAddress, readPayment } from '../base/fields.js'
import type { Payment, SignedPayment } from '../base/types.js'
import { askWallet, type Wallet } from './askWallet.js'
import { UnexpectedPaymentError } from './errors.js'

/** What the page itself knows of the payment, from its own configuration. */
export type SignPaymentExpectation = {
  chainId: number
  /** Address of the token contract. */
  token: Address
  /** The recipient. */
  to: Address
  /** A decimal such as `'12.50'`, in whole tokens. */
  amount: string
  /** Decimals of the token. @default 6 */
  decimals?: number | undefined
  /** Longest window to sign, in seconds from `validAfter` to `validBefore`. */
  maxWindow?: bigint | undefined
}

/** What {@link signPayment} takes. */
export type SignPaymentParameters = {
  /** The payment to sign, usually as the merchant's server drafted it. */
  payment: Payment
  /** Not from the response that brought the payment: from the page. */
  expect: SignPaymentExpectation
}

/**
 * Has a wallet sign a payment after checking that it is the expected one.
 *
 * Signing moves nothing and reserves nothing, but whoever holds the result can
 * capture it as far as the token lets them. Who signed is judged by
 * `verifyPayment`, on the merchant's side.
 *
 * @throws {@link UnexpectedPaymentError} when the payment is another than
 * expected; the wallet was not asked.
 * @throws {@link WrongWalletError} when the wallet is on another chain or account.
 * @throws {@link SigningDeclinedError} when the user declines.
 * @throws {@link WalletError} when the wallet fails or gives no signature.
 * @throws {@link InvalidFieldError} {@link InvalidAmountError} when payment or
 * expectation are malformed.
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
export async function signPayment(
  wallet: Wallet,
  parameters: SignPaymentParameters,
): Promise<SignedPayment> {
  const given: SignPaymentParameters = Object(parameters)
  const expect: SignPaymentExpectation = Object(given.expect)
  const payment = readPayment(given.payment)
  const { domain, message } = payment
  const window = message.validBefore - message.validAfter
  const { chainId, decimals, maxWindow = window } = expect
  const checks = [
    ['chainId', domain.chainId, chainId],
    [
      'token',
      domain.verifyingContract,
      readAddress(expect.token, 'expect.token'),
    ],
    ['to', message.to, readAddress(expect.to, 'expect.to')],
    ['value', message.value, parseAmount(expect.amount, decimals)],
  ] as const
  for (const [field, found, expected] of checks)
    if (found !== expected)
      throw new UnexpectedPaymentError(field, found, expected)
  // Not by >, which says no to what is no number too.
  if (!(window <= maxWindow))
    throw new UnexpectedPaymentError('window', window, `at most ${maxWindow}`)

  const signature = await askWallet(wallet, payment, message.from)
  return { ...payment, signature }
}
