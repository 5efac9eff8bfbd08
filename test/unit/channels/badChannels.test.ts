import { InvalidFieldError } from 'countersign'
import * as channels from 'countersign/channels'
import { type ChannelConfig, parseChannelConfig } from 'countersign/channels'
import fc from 'fast-check'
import { type Hex, recoverAddress } from 'viem'
import { expect, test } from 'vitest'
import { hex, runs } from '../support/arbitraries.js'
import {
  channelConfig,
  payer,
  sampleConfig,
  token,
} from '../support/channelSamples.js'

const zero = `0x${'00'.repeat(20)}`

test('terms come out in lower case, and otherwise as they went in', () => {
  fc.assert(
    fc.property(channelConfig(), (config) => {
      const upper = Object.fromEntries(
        Object.entries(config).map(([name, value]) => [
          name,
          typeof value === 'string'
            ? `0x${value.slice(2).toUpperCase()}`
            : value,
        ]),
      )
      expect(parseChannelConfig(upper)).toEqual(config)
      expect(parseChannelConfig(config)).not.toBe(config)
    }),
    runs(50),
  )
})

test.each([
  ['payer', zero],
  ['receiver', zero],
  ['receiverAuthorizer', zero],
  ['token', zero],
  ['payer', 'payer'],
  ['payerAuthorizer', undefined],
  ['withdrawDelay', 899],
  ['withdrawDelay', 2_592_001],
  ['withdrawDelay', 900.5],
  ['withdrawDelay', '3600'],
  ['withdrawDelay', 3_600n],
  ['withdrawDelay', Number.NaN],
  ['salt', '0x'],
  ['salt', 0n],
  ['salt', `0x${'00'.repeat(33)}`],
])('%s of %j is refused by name', (name, value) => {
  for (const [given, at] of [
    [parseChannelConfig, `config.${name}`],
    [(it: unknown) => parseChannelConfig(it, 'x'), `x.${name}`],
  ] as const)
    expect(() => given({ ...sampleConfig, [name]: value })).toThrow(
      expect.objectContaining({
        name: 'InvalidFieldError',
        details: expect.objectContaining({ field: at }),
      }),
    )
})

test('the bounds themselves and a payer that signs are taken', () => {
  for (const withdrawDelay of [900, 2_592_000]) {
    const config = { ...sampleConfig, withdrawDelay, payerAuthorizer: zero }
    expect(parseChannelConfig(config)).toEqual(config)
  }
})

test('an unknown member is refused, and so is an inherited one', () => {
  const more = { ...sampleConfig, nonce: 1 }
  expect(() => parseChannelConfig(more)).toThrow(/"nonce"/)
  const inherited = Object.create(sampleConfig)
  expect(() => parseChannelConfig(inherited)).toThrow('config.payer')
})

/** A good config with some members replaced, dropped or added. */
const spoiltConfig = (): fc.Arbitrary<unknown> =>
  fc.oneof(
    fc.anything(),
    fc
      .tuple(
        channelConfig(),
        fc.dictionary(
          fc.constantFrom(...Object.keys(sampleConfig), 'extra', '__proto__'),
          fc.oneof(fc.anything(), hex(20), hex(32), fc.bigInt(), fc.double()),
        ),
      )
      .map(([config, change]) => ({ ...config, ...change })),
  )

const anySignature = (): fc.Arbitrary<unknown> =>
  fc.oneof(
    fc.anything(),
    fc.string(),
    hex(65),
    hex(64),
    fc.integer({ min: 0, max: 200 }).chain(hex),
    hex(64).chain((rs) =>
      fc.constantFrom('00', '01', '1b', '1c', '02').map((v) => `${rs}${v}`),
    ),
  )

/** Every function that takes terms, with all else as it should be. */
const takeConfig: readonly ((config: ChannelConfig) => unknown)[] = [
  (config) => parseChannelConfig(config),
  (config) => channels.hashChannelConfig({ config, chainId: 8453 }),
  (config) => channels.finalizeWithdrawCall({ config }),
  (config) => channels.refundCall({ config, value: 1n }),
  (config) =>
    channels.claimCall({
      rows: [
        {
          config,
          maxClaimable: 1n,
          claimed: 1n,
          signature: `0x${'12'.repeat(64)}1b`,
        },
      ],
    }),
  (config) =>
    channels.buildDeposit({
      config,
      amount: '1',
      domain: {
        name: 'USD Coin',
        version: '2',
        chainId: 8453,
        verifyingContract: token,
      },
    }),
]

test('whatever the terms, the answer is a value or an error that names a field', () => {
  fc.assert(
    fc.property(spoiltConfig(), (config) => {
      for (const take of takeConfig) {
        try {
          take(config as never)
        } catch (error) {
          expect(error).toBeInstanceOf(InvalidFieldError)
        }
      }
    }),
    runs(500),
  )
})

test('whatever the parameters, the answer is a value or an error that names a field', async () => {
  const { getChannel, getChannels, getSettled, signVoucher, ...pure } = channels
  const client = { request: async () => '0x' }
  const functions = Object.entries({
    ...pure,
    getChannel: (given: never) => getChannel(client as never, given),
    getChannels: (given: never) => getChannels(client as never, given),
    getSettled: (given: never) => getSettled(client as never, given),
    signVoucher: (given: never) => signVoucher(client, given),
  }).filter(
    (entry): entry is [string, (given: never) => unknown] =>
      typeof entry[1] === 'function' && entry[0] !== 'decodeChannelLog',
  )
  await fc.assert(
    fc.asyncProperty(fc.anything(), async (given) => {
      for (const [name, call] of functions) {
        try {
          await call(given as never)
        } catch (error) {
          expect(error, name).toHaveProperty('details')
          expect(String(error), name).toContain('must be')
        }
      }
    }),
    runs(100),
  )
})

test('whatever the signature, it is mended, or there is none', async () => {
  const voucher = {
    channelId: `0x${'a1'.repeat(32)}`,
    maxClaimable: 1n,
  } as const
  await fc.assert(
    fc.asyncProperty(anySignature(), async (signature) => {
      const normal = channels.normalizeVoucherSignature(signature as Hex)
      const given = { chainId: 1, voucher, signer: payer.address }
      const verdict = await channels.checkVoucher({
        ...given,
        signature: signature as Hex,
      })
      if (normal) {
        expect(normal).toMatch(/^0x[\da-f]{64}[0-7][\da-f]{63}1[bc]$/)
        expect(channels.normalizeVoucherSignature(normal)).toBe(normal)
        const hash = channels.hashVoucher({ chainId: 1, voucher })
        // The same key, or in both forms none.
        const [before, after] = await Promise.all(
          [signature as Hex, normal].map((one) =>
            recoverAddress({ hash, signature: one }).catch(() => undefined),
          ),
        )
        expect(after).toBe(before)
      }
      expect(verdict).toEqual({
        ok: false,
        reason: normal ? 'wrongSigner' : 'malformedSignature',
      })
    }),
    runs(200),
  )
})
