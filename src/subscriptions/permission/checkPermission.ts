import type { Address, Hex } from 'viem'
import { shorten } from '../../core/errors.js'
import { parseCheckedAddress } from '../../core/parseCheckedAddress.js'
import { spendPermissionManager } from './buildSpendPermission.js'
import type { SpendPermission } from './types.js'
import type {
  SpendPermissionExpectation,
  SpendPermissionProblem,
  SpendPermissionRefusal,
} from './verdict.js'

export type ParsedPermissionExpectation = Omit<
  SpendPermissionExpectation,
  'manager' | 'chainId'
> & { manager: Address; chainId: number | undefined }

export function parseExpectation(
  given: SpendPermissionExpectation,
  clientChain: number | undefined,
): ParsedPermissionExpectation {
  const expect: SpendPermissionExpectation = Object(given)
  const { manager = spendPermissionManager, account } = expect
  return {
    ...expect,
    spender: parseCheckedAddress(expect.spender, 'expect.spender'),
    token: parseCheckedAddress(expect.token, 'expect.token'),
    manager: parseCheckedAddress(manager, 'expect.manager'),
    account:
      account === undefined
        ? undefined
        : parseCheckedAddress(account, 'expect.account'),
    chainId: expect.chainId ?? clientChain,
  }
}

type Check = readonly [
  reason: SpendPermissionRefusal,
  found: unknown,
  expected: unknown,
]

/**
 * Compares a permission with the merchant's expectation, without asking a node.
 */
export function checkPermission(
  { domain, message }: SpendPermission,
  signature: Hex | undefined,
  expect: ParsedPermissionExpectation,
): SpendPermissionProblem | undefined {
  if (signature === undefined)
    return { reason: 'malformedSignature', details: {} }
  const checks: readonly Check[] = [
    ['wrongChain', domain.chainId, expect.chainId],
    ['wrongManager', domain.verifyingContract, expect.manager],
    ['wrongSpender', message.spender, expect.spender],
    ['wrongToken', message.token, expect.token],
    ['wrongAccount', message.account, expect.account],
    ['wrongPeriod', message.period, expect.period],
    ['wrongStart', message.start, expect.start],
    ['wrongSalt', message.salt, expect.salt],
    ['wrongExtraData', message.extraData, expect.extraData?.toLowerCase()],
  ]
  for (const [reason, found, expected] of checks)
    if (expected !== undefined && found !== expected)
      return { reason, details: { found: shortened(found), expected } }
  const { minEnd = 0n } = expect
  return message.end < minEnd
    ? { reason: 'endsTooSoon', details: { found: message.end, minEnd } }
    : undefined
}

/**
 * Shortens texts for an error: one may be a signature in the wrong field, which
 * must not be shown.
 */
const shortened = (value: unknown): unknown =>
  typeof value === 'string' ? shorten(value) : value
