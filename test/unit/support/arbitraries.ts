import type { Cancellation, Payment, TokenDomain } from 'countersign'
import fc from 'fast-check'
import type { Address, Hex } from 'viem'

/** How many cases a property runs: a hundred times more in the long version. */
export const runs = (count: number): { numRuns: number } => ({
  numRuns: process.env.COUNTERSIGN_FULL ? count * 100 : count,
})

/** `bytes` random bytes, in lower case as a payment holds them. */
export const hex = (bytes: number): fc.Arbitrary<Hex> =>
  fc
    .uint8Array({ minLength: bytes, maxLength: bytes })
    .map((array): Hex => `0x${Buffer.from(array).toString('hex')}`)

const address = (): fc.Arbitrary<Address> => hex(20)

export const uint256 = (): fc.Arbitrary<bigint> =>
  fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })

export const domain = (): fc.Arbitrary<TokenDomain> =>
  fc.record({
    name: fc.string({ unit: 'grapheme', maxLength: 40 }),
    version: fc.string({ maxLength: 5 }),
    chainId: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
    verifyingContract: address(),
  })

export const payment = (): fc.Arbitrary<Payment> =>
  fc.record({
    primaryType: fc.constantFrom(
      'ReceiveWithAuthorization',
      'TransferWithAuthorization',
    ),
    domain: domain(),
    message: fc.record({
      from: address(),
      to: address(),
      value: uint256(),
      validAfter: uint256(),
      validBefore: uint256(),
      nonce: hex(32),
    }),
  })

export const cancellation = (): fc.Arbitrary<Cancellation> =>
  fc.record({
    primaryType: fc.constant('CancelAuthorization'),
    domain: domain(),
    message: fc.record({ authorizer: address(), nonce: hex(32) }),
  })

/** What a wallet could answer: 64 to a few hundred bytes of any content. */
export const signature = (): fc.Arbitrary<Hex> =>
  fc.integer({ min: 64, max: 300 }).chain(hex)

/** What a function threw, or a failure of the test when it did not. */
export function thrownBy(run: () => unknown): unknown {
  try {
    run()
  } catch (error) {
    return error
  }
  throw new Error('nothing was thrown')
}
