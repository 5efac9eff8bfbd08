import { captureCall, getPaymentOutcome, type SignedPayment } from 'countersign'
import {
  batchCall,
  captureKeyCall,
  delegateSubmitter,
  getCaptureKey,
  proveBatch,
  revokeCaptureKey,
  undelegateSubmitter,
} from 'countersign/batches'
import type { Hex } from 'viem'
import { getBalance, getTransactionCount } from 'viem/actions'
import { expect, test } from 'vitest'
import {
  chain,
  node,
  openAccount,
  paymentsTo,
  payTo,
  reader,
  relayer,
  walletOf,
} from '../support/batchDesk.js'
import {
  balanceOf,
  decodeContext,
  encodeContext,
  openTreasury,
  passOn,
  setPaused,
  statusOf,
  tryCall,
} from '../support/captureKeyDesk.js'

const callFor = (permission: Hex, payment: SignedPayment) =>
  captureKeyCall({ permission, call: captureCall({ payment }) })

test('a key captures a payment to the treasury, which sends nothing itself', async () => {
  const { treasury, key, permission } = await openTreasury()
  const { payment } = await payTo(treasury.address)
  const { status, gasUsed } = await tryCall(key, callFor(permission, payment))
  expect(status).toBe('success')
  expect(await getPaymentOutcome(reader, { payment })).toMatchObject({
    status: 'captured',
  })
  expect(await balanceOf(treasury.address)).toBe(1_000_000n)
  expect(await balanceOf(key.address)).toBe(0n)
  const { gas } = callFor(permission, payment)
  expect(gasUsed).toBeLessThan((gas * 9n) / 10n)
})

test('getCaptureKey shows who may capture what', async () => {
  const validBefore = BigInt(Math.floor(Date.now() / 1000)) + 3600n
  const { treasury, key, permission } = await openTreasury({ validBefore })
  const found = await getCaptureKey(reader, { permission })
  expect(found).toEqual({
    chainId: 31337,
    treasury: treasury.address.toLowerCase(),
    key: key.address.toLowerCase(),
    tokens: [chain.token.toLowerCase()],
    validBefore,
    hash: expect.stringMatching(/^0x[\da-f]{64}$/),
    permission,
    status: 'active',
  })
})

test('a key that is delegated itself captures many, also beside payments that fail', async () => {
  const { treasury, key, permission } = await openTreasury()
  await delegateSubmitter(walletOf(key))
  const payments = await paymentsTo(treasury.address, 10)
  for (const spoiled of [payments[3], payments[7]])
    if (spoiled) await tryCall(key, callFor(permission, spoiled))
  const calls = payments.map((payment) => callFor(permission, payment))
  const { receipt } = await tryCall(
    key,
    batchCall({ account: key.address, calls }),
  )
  if (!receipt) throw new Error('no receipt')
  const outcomes = proveBatch(receipt, { payments, account: key.address })
  expect(outcomes.map(({ status }) => status)).toEqual(
    payments.map((_, at) => (at === 3 || at === 7 ? 'failed' : 'captured')),
  )
  expect(outcomes[3]).toMatchObject({
    words: 'FiatTokenV2: authorization is used or canceled',
  })
  expect(await balanceOf(treasury.address)).toBe(10_000_000n)
})

test('a revoked key captures no more, nor does whoever got its permission', async () => {
  const { treasury, key, permission, wallet } = await openTreasury()
  const [first, second, third] = await paymentsTo(treasury.address, 3)
  if (!first || !second || !third) throw new Error('no payments')
  const friend = await openAccount()
  const passed = await passOn(key, permission, friend.address)
  expect((await tryCall(friend, passed(first))).status).toBe('success')

  const { transactionHash } = await revokeCaptureKey(wallet, { permission })
  expect(transactionHash).toBeDefined()
  expect(await statusOf(permission)).toBe('revoked')
  expect((await tryCall(friend, passed(second))).status).toBe('reverted')
  expect((await tryCall(key, callFor(permission, third))).status).toBe(
    'reverted',
  )
  expect(await revokeCaptureKey(wallet, { permission })).toEqual({
    transactionHash: undefined,
  })
})

test('a sponsor pays for the revocation, and can do nothing else with it', async () => {
  const { treasury, permission, wallet } = await openTreasury({ value: 0n })
  const { account: sponsor } = relayer
  await revokeCaptureKey(wallet, { permission, sponsor })
  expect(await statusOf(permission)).toBe('revoked')
  const { address } = treasury
  expect(await getBalance(reader, { address })).toBe(0n)
  expect(await getTransactionCount(reader, { address })).toBe(1)
})

test("'all' ends also permissions that nobody has any more", async () => {
  const { permission, wallet, grant } = await openTreasury()
  const second = await grant()
  await revokeCaptureKey(wallet, { permission: 'all' })
  expect(await statusOf(permission)).toBe('revoked')
  expect(await statusOf(second.permission)).toBe('revoked')
  expect(await statusOf((await grant()).permission)).toBe('active')
})

test.each(['itself', 'a sponsor'])(
  'undelegated by %s, and delegated again: its permissions do not come back',
  async (by) => {
    const { treasury, key, permission, wallet } = await openTreasury()
    const sponsor = by === 'itself' ? undefined : relayer.account
    await undelegateSubmitter(wallet, { sponsor })
    expect(await statusOf(permission)).toBe('undelegated')
    await delegateSubmitter(wallet)
    expect(await statusOf(permission)).toBe('revoked')
    const { payment } = await payTo(treasury.address)
    const tried = await tryCall(key, callFor(permission, payment))
    expect(tried.status).toBe('reverted')
  },
)

test('while the manager is paused, keys stop; revocation and the treasury go on', async () => {
  const { treasury, key, permission, wallet } = await openTreasury()
  const [first, second] = await paymentsTo(treasury.address, 2)
  if (!first || !second) throw new Error('no payments')
  await setPaused(true)
  try {
    expect(await statusOf(permission)).toBe('paused')
    expect((await tryCall(key, callFor(permission, first))).status).toBe(
      'reverted',
    )
    const calls = [captureCall({ payment: second })]
    const own = batchCall({ account: treasury.address, calls })
    expect((await tryCall(treasury, own)).status).toBe('success')
    const { account: sponsor } = relayer
    await expect(
      revokeCaptureKey(wallet, { permission, sponsor }),
    ).rejects.toMatchObject({ name: 'CaptureKeyError', reason: 'paused' })
    await revokeCaptureKey(wallet, { permission })
    expect(await statusOf(permission)).toBe('revoked')
  } finally {
    await setPaused(false)
  }
})

test('a permission ends at its time, to the second', async () => {
  const { timestamp } = await reader.getBlock()
  const validBefore = timestamp + 500n
  const { treasury, key, permission } = await openTreasury({ validBefore })
  const [first, second] = await paymentsTo(treasury.address, 2)
  if (!first || !second) throw new Error('no payments')
  await node.setNextBlockTimestamp({ timestamp: validBefore - 1n })
  expect((await tryCall(key, callFor(permission, first))).status).toBe(
    'success',
  )
  await node.setNextBlockTimestamp({ timestamp: validBefore })
  expect((await tryCall(key, callFor(permission, second))).status).toBe(
    'reverted',
  )
  expect(await statusOf(permission)).toBe('expired')
})

// The enforcer takes sixteen bytes for the beginning and sixteen for the end.
test.each([
  ['a beginning', `0x${'1'.repeat(64)}`],
  ['an end of zero, which is no end', `0x${'0'.repeat(64)}`],
] as const)('a permission with %s is refused', async (_name, terms) => {
  const validBefore = BigInt(Math.floor(Date.now() / 1000)) + 3600n
  const { treasury, permission } = await openTreasury({ validBefore })
  const [real] = decodeContext(permission)
  if (!real) throw new Error('no delegation')
  const caveats = real.caveats.map((one, at) =>
    at === 3 ? { ...one, terms } : one,
  )
  const { payment } = await payTo(treasury.address)
  const odd = encodeContext([{ ...real, caveats }])
  expect(() => callFor(odd, payment)).toThrow(
    'permission must be a permission of createCaptureKey',
  )
})
