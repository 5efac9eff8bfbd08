import { readAddress } from '../base/fields.js'
import { knownTokens } from '../base/knownTokens.js'
import type { TokenDomain } from '../base/types.js'
import { UnexpectedPaymentError } from './errors.js'
import type { SignPaymentExpectation } from './signPayment.js'

/** A field, its value, and the value that the page expects. */
type Check = readonly [field: string, found: unknown, expected: unknown]

/** Refuses the first field that is not as the page expects it. */
export function checkExpected(checks: readonly Check[]): void {
  for (const [field, found, expected] of checks)
    if (found !== expected)
      throw new UnexpectedPaymentError(field, found, expected)
}

/**
 * Wallets show the name of the domain, so a wrong name could deceive the buyer.
 */
export function domainChecks(
  domain: TokenDomain,
  expect: Pick<
    SignPaymentExpectation,
    'chainId' | 'token' | 'name' | 'version'
  >,
): Check[] {
  const { chainId } = expect
  const token = readAddress(expect.token, 'expect.token')
  const known =
    knownTokens.find(
      ({ address, ...one }) => address === token && one.chainId === chainId,
    ) ?? domain
  const { name = known.name, version = known.version } = expect
  return [
    ['chainId', domain.chainId, chainId],
    ['token', domain.verifyingContract, token],
    ['name', domain.name, name],
    ['version', domain.version, version],
  ]
}
