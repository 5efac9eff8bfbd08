import type { ChannelConfig, ClaimRow } from 'countersign/channels'
import fc from 'fast-check'
import type { Address, Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { hex } from './arbitraries.js'

export const payer = privateKeyToAccount(`0x${'11'.repeat(32)}`)
export const authorizer = privateKeyToAccount(`0x${'22'.repeat(32)}`)
export const token = '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913'

const lower = (address: Address) => address.toLowerCase() as Address

export const sampleConfig: ChannelConfig = {
  payer: lower(payer.address),
  payerAuthorizer: lower(payer.address),
  receiver: '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc',
  receiverAuthorizer: lower(authorizer.address),
  token,
  withdrawDelay: 3_600,
  salt: `0x${'00'.repeat(32)}`,
}

/** An address that is not the zero address. */
const account = (): fc.Arbitrary<Address> =>
  hex(20).filter((address) => BigInt(address) > 0n)

export const channelConfig = (): fc.Arbitrary<ChannelConfig> =>
  fc.record({
    payer: account(),
    payerAuthorizer: hex(20),
    receiver: account(),
    receiverAuthorizer: account(),
    token: account(),
    withdrawDelay: fc.integer({ min: 900, max: 2_592_000 }),
    salt: hex(32),
  })

export const uint128 = (least = 0n): fc.Arbitrary<bigint> =>
  fc.bigInt({ min: least, max: 2n ** 128n - 1n })

export const chainId = (): fc.Arbitrary<number> =>
  fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER })

/** A signature in the form that the contract takes; of no known key. */
export const keySignature = (): fc.Arbitrary<Hex> =>
  fc
    .tuple(hex(31), hex(31), fc.constantFrom('1b', '1c'))
    .map(([r, s, v]): Hex => `0x01${r.slice(2)}01${s.slice(2)}${v}`)

export const claimRow = (
  config: fc.Arbitrary<ChannelConfig>,
): fc.Arbitrary<ClaimRow> =>
  fc
    .tuple(config, uint128(), uint128(), keySignature())
    .map(([terms, one, other, signature]) => ({
      config: terms,
      maxClaimable: one > other ? one : other,
      claimed: one > other ? other : one,
      signature,
    }))

/** One to five rows with one `receiverAuthorizer`. */
export const claimRows = (): fc.Arbitrary<ClaimRow[]> =>
  account().chain((receiverAuthorizer) =>
    fc.array(
      claimRow(channelConfig().map((it) => ({ ...it, receiverAuthorizer }))),
      { minLength: 1, maxLength: 5 },
    ),
  )
