import type { Address, Hex } from 'viem'
import { checkMembers } from '../../core/checkMembers.js'
import {
  parseAddress,
  parseBytes32,
  parseCancellation,
} from '../../core/fields.js'
import type { Cancellation, SignedCancellation } from '../../core/types.js'
import { addTypes } from '../message/paymentTypedData.js'
import { checkExpected, domainChecks } from './checkExpected.js'
import { signWithWallet, type Wallet } from './signWithWallet.js'

/** What the page itself knows about the payment to cancel. */
export type SignCancellationExpectation = {
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
  /** Account of the payer. @default the payer that the cancellation names */
  from?: Address | undefined
  /**
   * Payment nonce, if the page stored it. Without it, any nonce is accepted.
   */
  nonce?: Hex | undefined
}

/** The cancellation to sign, and what {@link signCancellation} checks first. */
export type SignCancellationParameters = {
  cancellation: Cancellation
  /**
   * Take these values from the page, never from the response that contained the
   * cancellation.
   */
  expect: SignCancellationExpectation
  /**
   * Ends the wait for the wallet. The wallet may still show its window; if it
   * then signs, the signature is dropped.
   */
  signal?: AbortSignal | undefined
}

/**
 * Checks that a cancellation is the expected one (chain, token and its name,
 * and payer and nonce if given), then asks the payer's wallet to sign it.
 *
 * The cancellation takes effect when someone submits it, and only if the
 * payment has not been captured before.
 *
 * @throws {@link UnexpectedPaymentError} when the cancellation is not the
 * expected one; the wallet was not asked.
 * @throws {@link WrongWalletError} when the wallet is on another chain or
 * account.
 * @throws {@link SigningDeclinedError} when the user declines.
 * @throws {@link WalletError} when the wallet fails or returns no signature.
 * @throws {@link InvalidFieldError} when cancellation or expectation are
 * malformed.
 * @throws the reason of `signal` when that aborts.
 *
 * @example
 * ```ts
 * import { buildCancellation, type Payment, signCancellation } from 'countersign'
 * import type { WalletClient } from 'viem'
 *
 * const revoke = (wallet: WalletClient, payment: Payment) =>
 *   signCancellation(wallet, {
 *     cancellation: buildCancellation({ payment }),
 *     expect: {
 *       chainId: 8453,
 *       token: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
 *     },
 *   })
 * ```
 */
export async function signCancellation(
  wallet: Wallet,
  parameters: SignCancellationParameters,
): Promise<SignedCancellation> {
  checkMembers(parameters, ['cancellation', 'expect', 'signal'])
  const given: SignCancellationParameters = Object(parameters)
  checkMembers(
    given.expect,
    ['chainId', 'token', 'name', 'version', 'from', 'nonce'],
    'expect',
  )
  const expect: SignCancellationExpectation = Object(given.expect)
  const cancellation = parseCancellation(given.cancellation)
  const { domain, message } = cancellation
  const { authorizer } = message
  const { from = authorizer, nonce = message.nonce } = expect
  checkExpected([
    ...domainChecks(domain, expect),
    ['from', authorizer, parseAddress(from, 'expect.from')],
    ['nonce', message.nonce, parseBytes32(nonce, 'expect.nonce')],
  ])
  const signature = await signWithWallet(
    wallet,
    addTypes(cancellation),
    authorizer,
    given.signal,
  )
  return { ...cancellation, signature }
}
