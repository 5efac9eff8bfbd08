import type { Address, Hex } from 'viem'
import { parseAmount } from '../../core/amount.js'
import { checkMembers } from '../../core/checkMembers.js'
import { parseAddress } from '../../core/fields.js'
import { typedDataTypes } from '../../core/typedDataTypes.js'
import {
  signWithWallet,
  type Wallet,
} from '../../payments/sign/signWithWallet.js'
import { spendPermissionManager } from './buildSpendPermission.js'
import { UnexpectedSpendPermissionError } from './errors.js'
import { parseSpendPermission } from './parseSpendPermission.js'
import { spendPermissionTypedData } from './spendPermissionTypedData.js'
import type { SignedSpendPermission, SpendPermission } from './types.js'

/** What the page expects of the permission, from its own configuration. */
export type SignSpendPermissionExpectation = {
  chainId: number
  /** The merchant's account, which charges and receives the tokens. */
  spender: Address
  /** Address of the token contract. */
  token: Address
  /** Most that one period costs: a decimal such as `'9.99'`. */
  allowance: string
  /** Decimals of the token. @default 6 */
  decimals?: number | undefined
  /** Seconds of one period. */
  period: bigint
  /**
   * Latest `end` of the permission that the page accepts, in Unix seconds.
   * @default any end
   */
  maxEnd?: bigint | undefined
  /** Expected `extraData` of the permission. @default '0x' */
  extraData?: Hex | undefined
  /**
   * Expected address of the manager contract. @default the address that Base
   * publishes
   */
  manager?: Address | undefined
}

/** Parameters of {@link signSpendPermission}. */
export type SignSpendPermissionParameters = {
  /** The permission to sign, usually drafted by the merchant's server. */
  permission: SpendPermission
  /**
   * What the permission must say. Write these values into the page. Never take
   * them from the response that contained the permission: a wrong response
   * would then confirm itself.
   */
  expect: SignSpendPermissionExpectation
  /**
   * Ends the wait for the wallet. The wallet may still show its window; if it
   * then signs, the signature is dropped.
   */
  signal?: AbortSignal | undefined
}

/**
 * Checks that a permission is the expected one (chain, manager, spender, token,
 * allowance, period and end), then asks the payer's smart wallet to sign it.
 *
 * Signing moves nothing. Whoever holds the spender's key can then take the
 * allowance each period until the payer revokes the permission.
 *
 * @throws {@link UnexpectedSpendPermissionError} when the permission is not the
 * expected one; the wallet was not asked.
 * @throws {@link WrongWalletError} when the wallet is on another chain or
 * account.
 * @throws {@link SigningDeclinedError} when the user declines.
 * @throws {@link WalletError} when the wallet fails or returns no signature.
 * @throws {@link InvalidFieldError} {@link InvalidAmountError} when permission
 * or expectation are malformed.
 * @throws the reason of `signal` when that aborts.
 *
 * @example
 * ```ts
 * import { signSpendPermission, type SpendPermission } from 'countersign/subscriptions'
 * import { createWalletClient, custom, type EIP1193Provider } from 'viem'
 *
 * export const subscribe = (provider: EIP1193Provider, permission: SpendPermission) =>
 *   signSpendPermission(createWalletClient({ transport: custom(provider) }), {
 *     permission,
 *     expect: {
 *       chainId: 8453,
 *       spender: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
 *       token: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
 *       allowance: '9.99',
 *       period: 30n * 86_400n,
 *     },
 *   })
 * ```
 */
export async function signSpendPermission(
  wallet: Wallet,
  parameters: SignSpendPermissionParameters,
): Promise<SignedSpendPermission> {
  checkMembers(parameters, ['permission', 'expect', 'signal'])
  const given: SignSpendPermissionParameters = Object(parameters)
  checkMembers(
    given.expect,
    [
      'chainId',
      'spender',
      'token',
      'allowance',
      'decimals',
      'period',
      'maxEnd',
      'extraData',
      'manager',
    ],
    'expect',
  )
  const permission = parseSpendPermission(given.permission)
  checkExpectation(permission, Object(given.expect))
  const { types, ...typedData } = spendPermissionTypedData(permission)
  const { EIP712Domain } = typedDataTypes
  const payload = { ...typedData, types: { EIP712Domain, ...types } }
  const { account } = permission.message
  return {
    permission,
    signature: await signWithWallet(wallet, payload, account, given.signal),
  }
}

function checkExpectation(
  { domain, message }: SpendPermission,
  expect: SignSpendPermissionExpectation,
): void {
  const { decimals = 6, extraData = '0x', maxEnd } = expect
  const { manager = spendPermissionManager } = expect
  const checks: readonly (readonly [string, unknown, unknown])[] = [
    ['chainId', domain.chainId, expect.chainId],
    [
      'manager',
      domain.verifyingContract,
      parseAddress(manager, 'expect.manager'),
    ],
    [
      'spender',
      message.spender,
      parseAddress(expect.spender, 'expect.spender'),
    ],
    ['token', message.token, parseAddress(expect.token, 'expect.token')],
    ['allowance', message.allowance, parseAmount(expect.allowance, decimals)],
    ['period', message.period, expect.period],
    ['extraData', message.extraData, extraData.toLowerCase()],
  ]
  for (const [field, found, expected] of checks)
    if (found !== expected)
      throw new UnexpectedSpendPermissionError(field, found, expected)
  // Not `message.end > maxEnd`: that is false for a `maxEnd` that is not a
  // number, such as `NaN`, so any end would pass.
  if (maxEnd !== undefined && !(message.end <= maxEnd))
    throw new UnexpectedSpendPermissionError(
      'end',
      message.end,
      `at most ${maxEnd}`,
    )
}
