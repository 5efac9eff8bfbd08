import {
  computeChannelId,
  createBatchSettlementEIP3009DepositPayload,
  signVoucher as stockVoucher,
} from '@x402/evm/batch-settlement/client'
import { buildPayment, type TokenDomain } from 'countersign'
import { loadAccelerator } from 'countersign/accelerate'
import {
  buildDeposit,
  channelContract,
  channelDomain,
  claimTypedData,
  depositCollector,
  hashChannelConfig,
  hashClaim,
  hashVoucher,
  refundTypedData,
  voucherTypedData,
} from 'countersign/channels'
import fc from 'fast-check'
import { encodeAbiParameters, hashTypedData, keccak256 } from 'viem'
import { expect, test } from 'vitest'
import { hex, runs, uint256 } from '../support/arbitraries.js'
import {
  chainId,
  channelConfig,
  claimRows,
  payer,
  sampleConfig,
  token,
  uint128,
} from '../support/channelSamples.js'

const domain: TokenDomain = {
  name: 'USD Coin',
  version: '2',
  chainId: 8453,
  verifyingContract: token,
}

const configTypes = {
  ChannelConfig: [
    { name: 'payer', type: 'address' },
    { name: 'payerAuthorizer', type: 'address' },
    { name: 'receiver', type: 'address' },
    { name: 'receiverAuthorizer', type: 'address' },
    { name: 'token', type: 'address' },
    { name: 'withdrawDelay', type: 'uint40' },
    { name: 'salt', type: 'bytes32' },
  ],
} as const

test("the id of a channel is viem's hash and that of the stock client", () => {
  fc.assert(
    fc.property(channelConfig(), chainId(), (config, chain) => {
      const id = hashChannelConfig({ config, chainId: chain })
      expect(id).toBe(computeChannelId(config, chain))
      expect(id).toBe(
        hashTypedData({
          domain: channelDomain(chain),
          types: configTypes,
          primaryType: 'ChannelConfig',
          message: config,
        }),
      )
    }),
    runs(100),
  )
})

test('the case of addresses does not change the id', () => {
  const upper = { ...sampleConfig, payer: payer.address }
  const id = hashChannelConfig({ config: upper, chainId: 1 })
  expect(id).toBe(hashChannelConfig({ config: sampleConfig, chainId: 1 }))
})

test('the accelerated hash gives the same digests', async () => {
  const { keccak256: fast } = await loadAccelerator()
  fc.assert(
    fc.property(claimRows(), chainId(), (rows, chain) => {
      const [row] = rows
      if (!row) return
      const { config, maxClaimable } = row
      const channelId = hashChannelConfig({ config, chainId: chain })
      const voucher = { channelId, maxClaimable }
      const given = { chainId: chain, keccak256: fast }
      expect(hashChannelConfig({ config, ...given })).toBe(channelId)
      expect(hashVoucher({ voucher, ...given })).toBe(
        hashVoucher({ voucher, chainId: chain }),
      )
      expect(hashClaim({ rows, ...given })).toBe(
        hashClaim({ rows, chainId: chain }),
      )
    }),
    runs(30),
  )
})

test("the digest of a voucher is viem's of its typed data", () => {
  fc.assert(
    fc.property(
      chainId(),
      hex(32),
      uint128(),
      (chain, channelId, maxClaimable) => {
        const given = { chainId: chain, voucher: { channelId, maxClaimable } }
        expect(hashVoucher(given)).toBe(hashTypedData(voucherTypedData(given)))
      },
    ),
    runs(100),
  )
})

test("the digest of a claim is viem's of its typed data", () => {
  fc.assert(
    fc.property(chainId(), claimRows(), (chain, rows) => {
      const given = { chainId: chain, rows }
      expect(hashClaim(given)).toBe(hashTypedData(claimTypedData(given)))
    }),
    runs(50),
  )
})

test('typed data has the names of the scheme', () => {
  const channelId = hashChannelConfig({ config: sampleConfig, chainId: 8453 })
  const voucher = { channelId, maxClaimable: 5n }
  const signature = `0x${'12'.repeat(64)}1b` as const
  const row = { config: sampleConfig, maxClaimable: 5n, signature, claimed: 4n }
  expect(channelDomain(8453)).toEqual({
    name: 'x402 Batch Settlement',
    version: '1',
    chainId: 8453,
    verifyingContract: channelContract,
  })
  expect(voucherTypedData({ chainId: 8453, voucher }).message).toEqual({
    channelId,
    maxClaimableAmount: 5n,
  })
  expect(claimTypedData({ chainId: 8453, rows: [row] }).message).toEqual({
    claims: [{ channelId, maxClaimableAmount: 5n, totalClaimed: 4n }],
  })
  expect(
    refundTypedData({ chainId: 8453, channelId, nonce: 2n, value: 3n }),
  ).toMatchObject({
    domain: channelDomain(8453),
    primaryType: 'Refund',
    message: { channelId, nonce: 2n, amount: 3n },
  })
})

test('the stock client signs the same voucher', async () => {
  const channelId = hashChannelConfig({ config: sampleConfig, chainId: 8453 })
  const signed = await stockVoucher(payer, channelId, '500', 'eip155:8453')
  const voucher = { channelId, maxClaimable: 500n }
  expect(signed.signature).toBe(
    await payer.signTypedData(voucherTypedData({ chainId: 8453, voucher })),
  )
})

test('the stock client signs the same deposit', async () => {
  const { payload } = await createBatchSettlementEIP3009DepositPayload(
    payer,
    2,
    {
      scheme: 'batch-settlement',
      network: 'eip155:8453',
      asset: token,
      amount: '10000',
      payTo: sampleConfig.receiver,
      maxTimeoutSeconds: 300,
      extra: { name: 'USD Coin', version: '2' },
    },
    sampleConfig,
    '100000',
    '10000',
  )
  const { erc3009Authorization: sent } = (
    payload as {
      deposit: {
        authorization: {
          erc3009Authorization: {
            validBefore: string
            salt: `0x${string}`
            signature: string
          }
        }
      }
    }
  ).deposit.authorization
  const { payment, salt } = buildDeposit({
    config: sampleConfig,
    domain,
    value: 100_000n,
    validAfter: 0n,
    validBefore: BigInt(sent.validBefore),
    salt: sent.salt,
  })
  expect(salt).toBe(sent.salt)
  const { primaryType, message } = payment
  const types = {
    ReceiveWithAuthorization: [
      { name: 'from', type: 'address' },
      { name: 'to', type: 'address' },
      { name: 'value', type: 'uint256' },
      { name: 'validAfter', type: 'uint256' },
      { name: 'validBefore', type: 'uint256' },
      { name: 'nonce', type: 'bytes32' },
    ],
  } as const
  expect(primaryType).toBe('ReceiveWithAuthorization')
  expect(sent.signature).toBe(
    await payer.signTypedData({
      domain,
      types,
      primaryType: 'ReceiveWithAuthorization',
      message,
    }),
  )
})

test("a deposit's nonce binds it to its channel and salt", () => {
  fc.assert(
    fc.property(channelConfig(), uint256(), (config, number) => {
      const channelId = hashChannelConfig({ config, chainId: 8453 })
      const salt = `0x${number.toString(16).padStart(64, '0')}` as const
      const { payment } = buildDeposit({
        config,
        domain: { ...domain, verifyingContract: config.token },
        amount: '1.5',
        now: 1_000n,
        salt,
      })
      expect(payment.message).toEqual({
        from: config.payer,
        to: depositCollector,
        value: 1_500_000n,
        validAfter: 940n,
        validBefore: 1_900n,
        nonce: keccak256(
          encodeAbiParameters(
            [{ type: 'bytes32' }, { type: 'uint256' }],
            [channelId, number],
          ),
        ),
      })
    }),
    runs(50),
  )
})

test('amount and value are two ways to say one deposit', () => {
  const common = {
    config: sampleConfig,
    domain,
    now: 1_000n,
    salt: `0x${'07'.repeat(32)}`,
  } as const
  const byAmount = buildDeposit({ ...common, amount: '1.00' })
  expect(buildDeposit({ ...common, value: 1_000_000n })).toEqual(byAmount)
  const eighteen = buildDeposit({ ...common, amount: '1.00', decimals: 18 })
  expect(eighteen.payment.message.value).toBe(10n ** 18n)
  const { domain: own, primaryType } = buildPayment({
    domain,
    from: sampleConfig.payer,
    to: depositCollector,
    amount: '1',
  })
  expect(byAmount.payment).toMatchObject({ domain: own, primaryType })
})

test('two deposits with the same terms have different salts', () => {
  const given = { config: sampleConfig, domain, amount: '1' }
  expect(buildDeposit(given).salt).not.toBe(buildDeposit(given).salt)
})

test.each([
  ['neither amount nor value', { amount: undefined }, 'Amount must be'],
  ['both', { value: 1n }, 'amount must be left out with value'],
  ['no base unit', { amount: undefined, value: 0n }, 'value must be'],
  ['more than fits', { amount: '1', decimals: 39 }, 'value must be'],
  [
    'another token',
    { domain: { ...domain, verifyingContract: sampleConfig.receiver } },
    'domain.verifyingContract must be the token of the channel',
  ],
  ['another salt', { salt: '0x12' }, 'salt must be 0x and 64 hex digits'],
  [
    'the collector as payer',
    { config: { ...sampleConfig, payer: depositCollector } },
    'to must be another account',
  ],
])('a deposit with %s is refused by name', (_, change, words) => {
  const given = { config: sampleConfig, domain, amount: '1', ...change }
  expect(() => buildDeposit(given as never)).toThrow(words)
})
