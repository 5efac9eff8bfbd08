import type { Address, Hex } from 'viem'
import { parseAmount } from '../../core/amount.js'
import { checkMembers } from '../../core/checkMembers.js'
import { parsePeriod, parseTime } from '../../core/clock.js'
import { drawNonce } from '../../core/drawNonce.js'
import { InvalidFieldError, shown } from '../../core/errors.js'
import { parseCheckedAddress } from '../../core/parseCheckedAddress.js'
import {
  managerName,
  managerVersion,
  parseSpendPermission,
} from './parseSpendPermission.js'
import type { SpendPermission } from './types.js'

/** Address of `SpendPermissionManager` on each chain where Base published it. */
export const spendPermissionManager: Address =
  '0xf85210b21cc50302f477ba56686d2019dc9b67ad'

/** Largest time that fits into a permission: `uint48`, in seconds. */
const lastSecond = 2n ** 48n - 1n

/** Parameters of {@link buildSpendPermission}. */
export type BuildSpendPermissionParameters = {
  chainId: number
  /** The payer's smart wallet. */
  account: Address
  /** The merchant's own account: it charges, and it receives the tokens. */
  spender: Address
  /** Address of the token contract. */
  token: Address
  /**
   * Most that one period may cost: a decimal such as `'9.99'`, in whole tokens.
   * If your price is fixed, pass the price: then the contract allows only one
   * charge in each period.
   */
  allowance: string
  /** Decimals of the token. @default 6 */
  decimals?: number | undefined
  /** Seconds of one period. */
  period: bigint
  /** Unix seconds at which the first period begins. @default `now` */
  start?: bigint | undefined
  /**
   * Unix seconds at which the permission ends; it is not valid in that second.
   * @default the end of `periods`, or else no end
   */
  end?: bigint | undefined
  /** How many periods the permission lasts, instead of `end`. */
  periods?: number | undefined
  /**
   * Number that makes this permission differ from others with equal terms.
   * @default 32 random bytes from Web Crypto
   */
  salt?: bigint | undefined
  /**
   * Your own data, at most 1024 bytes.
   *
   * @default none
   */
  extraData?: Hex | undefined
  /**
   * Address of the `SpendPermissionManager` contract. @default the address that
   * Base publishes
   */
  manager?: Address | undefined
  /** Present time in Unix seconds. @default the wall clock */
  now?: bigint | undefined
}

/**
 * Builds the message that lets a merchant charge a smart wallet each period.
 *
 * Nothing is reserved: the payer can spend the funds and revoke the permission
 * at any time.
 *
 * @throws {@link InvalidAmountError} when `allowance` is not a positive decimal
 * the token can represent.
 * @throws {@link InvalidFieldError} when another field is malformed, or account
 * and spender are the same.
 * @throws {@link NoRandomnessError} when no salt is given and there is no Web
 * Crypto.
 *
 * @example
 * ```ts
 * import { buildSpendPermission } from 'countersign/subscriptions'
 *
 * const permission = buildSpendPermission({
 *   chainId: 8453,
 *   account: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
 *   spender: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
 *   token: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
 *   allowance: '9.99',
 *   period: 30n * 86_400n,
 *   periods: 12,
 * })
 * ```
 */
export function buildSpendPermission(
  parameters: BuildSpendPermissionParameters,
): SpendPermission {
  checkMembers(parameters, [
    'chainId',
    'account',
    'spender',
    'token',
    'allowance',
    'decimals',
    'period',
    'start',
    'end',
    'periods',
    'salt',
    'extraData',
    'manager',
    'now',
  ])
  const given: BuildSpendPermissionParameters = Object(parameters)
  const {
    chainId,
    account,
    spender,
    token,
    allowance,
    decimals = 6,
    salt = BigInt(drawNonce()),
    extraData = '0x',
    manager = spendPermissionManager,
  } = given
  const period = parsePeriod(given.period, 'period')
  const start =
    given.start === undefined
      ? parseTime(given.now)
      : parseTime(given.start, 'start')
  const permission = parseSpendPermission({
    primaryType: 'SpendPermission',
    domain: {
      name: managerName,
      version: managerVersion,
      chainId,
      verifyingContract: parseCheckedAddress(manager, 'manager'),
    },
    message: {
      account: parseCheckedAddress(account, 'account'),
      spender: parseCheckedAddress(spender, 'spender'),
      token: parseCheckedAddress(token, 'token'),
      allowance: parseAmount(allowance, decimals),
      period,
      start,
      end: endOf(given, start),
      salt,
      extraData,
    },
  })
  if (permission.message.account === permission.message.spender)
    throw new InvalidFieldError('spender', shown(spender), 'another account')
  return permission
}

function endOf(
  { end, period, periods }: BuildSpendPermissionParameters,
  start: bigint,
): bigint {
  if (periods === undefined)
    return end === undefined ? lastSecond : parseTime(end, 'end')
  if (end !== undefined)
    throw new InvalidFieldError('periods', shown(periods), 'left out with end')
  if (!Number.isSafeInteger(periods) || periods < 1)
    throw new InvalidFieldError('periods', shown(periods), 'a positive integer')
  return start + BigInt(periods) * period
}
