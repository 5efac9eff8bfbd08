import {
  buildDeposit,
  channelContract,
  claimCall,
  claimWithSignatureCall,
  depositCall,
  depositCollector,
  finalizeWithdrawCall,
  initiateWithdrawCall,
  multicallCall,
  refundCall,
  refundWithSignatureCall,
  settleCall,
} from 'countersign/channels'
import fc from 'fast-check'
import { encodeAbiParameters, encodeFunctionData, type Hex } from 'viem'
import { expect, test } from 'vitest'
import { hex, runs, signature, uint256 } from '../support/arbitraries.js'
import {
  channelConfig,
  claimRows,
  keySignature,
  payer,
  sampleConfig,
  token,
  uint128,
} from '../support/channelSamples.js'
import { stockChannelAbi } from '../support/stockChannelAbi.js'

const abi = await stockChannelAbi()
const encode = (functionName: string, args: readonly unknown[]): Hex =>
  encodeFunctionData({ abi, functionName, args })

/** A row as the ABI names its members. */
const toStruct = (row: Parameters<typeof claimCall>[0]['rows'][number]) => ({
  voucher: { channel: row.config, maxClaimableAmount: row.maxClaimable },
  signature: row.signature,
  totalClaimed: row.claimed,
})

test("a claim is encoded as viem encodes it with x402's ABI", () => {
  fc.assert(
    fc.property(claimRows(), keySignature(), (rows, signed) => {
      const structs = rows.map(toStruct)
      expect(claimCall({ rows })).toEqual({
        to: channelContract,
        data: encode('claim', [structs]),
      })
      const call = claimWithSignatureCall({ rows, signature: signed })
      expect(call.data).toBe(encode('claimWithSignature', [structs, signed]))
    }),
    runs(50),
  )
})

test('a deposit is encoded so, with signatures of any length', () => {
  fc.assert(
    fc.property(
      channelConfig(),
      hex(32),
      uint128(1n),
      fc.oneof(keySignature(), signature()),
      (config, salt, value, signed) => {
        // Of 65 bytes that no key makes, some are refused: not meant here.
        if (signed.length === 132 && !/1[bc]$/.test(signed)) return
        if (signed.length === 130) return
        const domain = {
          name: 'USD Coin',
          version: '2',
          chainId: 8453,
          verifyingContract: config.token,
        }
        const { payment } = buildDeposit({ config, domain, value, salt })
        const { validAfter, validBefore } = payment.message
        const call = depositCall({
          config,
          payment: { ...payment, signature: signed },
          salt,
        })
        const data = encodeAbiParameters(
          [
            { type: 'uint256' },
            { type: 'uint256' },
            { type: 'uint256' },
            { type: 'bytes' },
          ],
          [validAfter, validBefore, BigInt(salt), signed],
        )
        expect(call.to).toBe(channelContract)
        expect(call.data).toBe(
          encode('deposit', [config, value, depositCollector, data]),
        )
      },
    ),
    runs(50),
  )
})

test('refunds and withdrawals are encoded so', () => {
  fc.assert(
    fc.property(
      channelConfig(),
      uint128(1n),
      uint256(),
      keySignature(),
      (config, value, nonce, signed) => {
        const of = (name: string, args: readonly unknown[]) => ({
          to: channelContract,
          data: encode(name, args),
        })
        expect(refundCall({ config, value })).toEqual(
          of('refund', [config, value]),
        )
        expect(
          refundWithSignatureCall({ config, value, nonce, signature: signed }),
        ).toEqual(of('refundWithSignature', [config, value, nonce, signed]))
        expect(initiateWithdrawCall({ config, value })).toEqual(
          of('initiateWithdraw', [config, value]),
        )
        expect(finalizeWithdrawCall({ config })).toEqual(
          of('finalizeWithdraw', [config]),
        )
      },
    ),
    runs(50),
  )
})

test('several calls become one multicall', () => {
  fc.assert(
    fc.property(claimRows(), (rows) => {
      const { receiver } = sampleConfig
      const settle = settleCall({ receiver, token })
      expect(settle.data).toBe(encode('settle', [receiver, token]))
      const calls = [claimCall({ rows }), settle]
      expect(multicallCall({ calls })).toEqual({
        to: channelContract,
        data: encode('multicall', [calls.map(({ data }) => data)]),
      })
    }),
    runs(20),
  )
})

test('a claim carries its signatures as the contract takes them', () => {
  const signed: Hex = `0x${'12'.repeat(64)}00`
  const row = {
    config: sampleConfig,
    maxClaimable: 5n,
    claimed: 5n,
    signature: signed,
  }
  const mended = { ...row, signature: `0x${'12'.repeat(64)}1b` as const }
  expect(claimCall({ rows: [row] })).toEqual(claimCall({ rows: [mended] }))
})

const secret = '5e'.repeat(30)
const row = {
  config: sampleConfig,
  maxClaimable: 5n,
  claimed: 5n,
  signature: `0x${'12'.repeat(64)}1b`,
}

test.each<[string, () => unknown, string]>([
  ['no row', () => claimCall({ rows: [] }), 'rows'],
  [
    'more than the voucher',
    () => claimCall({ rows: [{ ...row, claimed: 6n }] as never }),
    'rows[0].claimed',
  ],
  [
    'a signature of a contract wallet',
    () =>
      claimCall({
        rows: [{ ...row, signature: `0x${secret.repeat(9)}` }] as never,
      }),
    'rows[0].signature',
  ],
  [
    'an unknown member',
    () => claimCall({ rows: [row, { ...row, totalClaimed: 5n }] as never }),
    'rows[1]',
  ],
  [
    'rows of two authorizers',
    () =>
      claimWithSignatureCall({
        rows: [
          row,
          { ...row, config: { ...sampleConfig, receiverAuthorizer: token } },
        ] as never,
        signature: row.signature as Hex,
      }),
    'rows[1].config.receiverAuthorizer',
  ],
  [
    'a refund of nothing',
    () => refundCall({ config: sampleConfig, value: 0n }),
    'value',
  ],
  [
    'more than the contract counts',
    () => initiateWithdrawCall({ config: sampleConfig, value: 2n ** 128n }),
    'value',
  ],
  ['no call', () => multicallCall({ calls: [] }), 'calls'],
  [
    'a call to another contract',
    () => multicallCall({ calls: [{ to: token, data: '0x12345678' }] }),
    'calls[0].to',
  ],
  [
    'a call without a selector',
    () => multicallCall({ calls: [{ to: channelContract, data: '0x12' }] }),
    'calls[0].data',
  ],
])('%s is refused by name, and no signature shown', (_, build, field) => {
  try {
    build()
  } catch (error) {
    expect(error).toMatchObject({
      name: 'InvalidFieldError',
      details: { field },
    })
    expect(String(error)).not.toContain(secret.slice(0, 20))
    return
  }
  expect.fail('nothing was thrown')
})

const domain = {
  name: 'USD Coin',
  version: '2',
  chainId: 8453,
  verifyingContract: token,
} as const
const salt: Hex = `0x${'07'.repeat(32)}`
const { payment } = buildDeposit({
  config: sampleConfig,
  domain,
  amount: '1',
  salt,
})
const signed = { ...payment, signature: `0x${'12'.repeat(64)}1b` as const }
const { message } = signed

test.each<[string, object, string]>([
  ['no signature', { payment }, 'payment.signature'],
  [
    'a transfer',
    { payment: { ...signed, primaryType: 'TransferWithAuthorization' } },
    'payment.primaryType',
  ],
  [
    'another token',
    {
      payment: {
        ...signed,
        domain: { ...domain, verifyingContract: payer.address },
      },
    },
    'payment.domain.verifyingContract',
  ],
  [
    'another payer',
    { payment: { ...signed, message: { ...message, from: token } } },
    'payment.message.from',
  ],
  [
    'another recipient',
    { payment: { ...signed, message: { ...message, to: token } } },
    'payment.message.to',
  ],
  [
    'another nonce',
    { payment: { ...signed, message: { ...message, nonce: salt } } },
    'payment.message.nonce',
  ],
  [
    'another chain',
    { payment: { ...signed, domain: { ...domain, chainId: 1 } } },
    'payment.message.nonce',
  ],
  ['another salt', { salt: `0x${'08'.repeat(32)}` }, 'payment.message.nonce'],
  [
    'another channel',
    { config: { ...sampleConfig, withdrawDelay: 900 } },
    'payment.message.nonce',
  ],
  [
    'more than fits',
    { payment: { ...signed, message: { ...message, value: 2n ** 128n } } },
    'payment.message.value',
  ],
])('a deposit call with %s is refused by name', (_, change, field) => {
  const given = { config: sampleConfig, payment: signed, salt, ...change }
  expect(() => depositCall(given as never)).toThrow(
    expect.objectContaining({
      name: 'InvalidFieldError',
      details: expect.objectContaining({ field }),
    }),
  )
})
