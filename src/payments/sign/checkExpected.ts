import type { Address } from 'viem'
import { parseAddress } from '../../core/fields.js'
import { knownDomain } from '../../core/knownDomain.js'
import type { TokenDomain } from '../../core/types.js'
import { UnexpectedPaymentError } from './errors.js'

type Check = readonly [field: string, found: unknown, expected: unknown]

/**
 * Throws an `UnexpectedPaymentError` for the first field that differs from what
 * the page expects.
 */
export function checkExpected(checks: readonly Check[]): void {
  for (const [field, found, expected] of checks)
    if (found !== expected)
      throw new UnexpectedPaymentError(field, found, expected)
}

/**
 * Lists the checks of a token's EIP-712 domain. Includes the name: wallets show
 * it, and a wrong name could deceive the buyer.
 */
export function domainChecks(
  domain: TokenDomain,
  expect: {
    chainId: number
    token: Address
    name?: string | undefined
    version?: string | undefined
  },
): Check[] {
  const { chainId } = expect
  const token = parseAddress(expect.token, 'expect.token')
  const known = knownDomain(chainId, token) ?? domain
  const { name = known.name, version = known.version } = expect
  return [
    ['chainId', domain.chainId, chainId],
    ['token', domain.verifyingContract, token],
    ['name', domain.name, name],
    ['version', domain.version, version],
  ]
}
