import { checkMembers } from '../core/checkMembers.js'
import { knownTokens } from '../core/knownTokens.js'
import type {
  Payment,
  PaymentAuthorization,
  TokenDomain,
} from '../core/types.js'

/** Fields to change in the payment of {@link samplePayment}. */
export type SamplePaymentParameters = Partial<PaymentAuthorization> & {
  primaryType?: Payment['primaryType'] | undefined
  domain?: Partial<TokenDomain> | undefined
}

/**
 * Returns a payment of 12.50 USDC on Base, for tests. Its values are always the
 * same. Pass only the fields that your test is about.
 *
 * @throws {@link InvalidFieldError} when a field is unknown.
 *
 * @example
 * ```ts
 * import { samplePayment } from 'countersign/testing'
 *
 * const payment = samplePayment({ validAfter: 100n, validBefore: 200n })
 * ```
 */
export function samplePayment(
  parameters: SamplePaymentParameters = {},
): Payment {
  checkMembers(parameters, [
    'primaryType',
    'domain',
    'from',
    'to',
    'value',
    'validAfter',
    'validBefore',
    'nonce',
  ])
  const { primaryType, domain, ...message } = parameters
  checkMembers(
    domain,
    ['name', 'version', 'chainId', 'verifyingContract'],
    'domain',
  )
  const usdc = knownTokens.find(({ chainId }) => chainId === 8453)
  return {
    primaryType: primaryType ?? 'ReceiveWithAuthorization',
    domain: {
      name: 'USD Coin',
      version: '2',
      chainId: 8453,
      verifyingContract: usdc?.address ?? '0x',
      ...domain,
    },
    message: {
      from: '0x1111111111111111111111111111111111111111',
      to: '0x2222222222222222222222222222222222222222',
      value: 12_500_000n,
      validAfter: 1_750_000_000n,
      validBefore: 1_750_000_960n,
      nonce: `0x${'3'.repeat(64)}`,
      ...message,
    },
  }
}
