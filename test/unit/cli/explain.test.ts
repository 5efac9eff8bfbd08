import {
  encodePayment,
  type Payment,
  paymentTypedData,
  type SignedPayment,
} from 'countersign'
import { samplePayment } from 'countersign/testing'
import { encodeErrorResult, type Hex, parseAbi } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { runCommand, typed } from '../../chain/support/cliShop.js'

const payer = privateKeyToAccount(`0x${'11'.repeat(32)}`)
const now = BigInt(Math.floor(Date.now() / 1000))
const payment = samplePayment({
  from: payer.address,
  validAfter: now - 60n,
  validBefore: now + 900n,
})

async function sign(signed: Payment, presented = signed) {
  const signature = await payer.signTypedData(paymentTypedData(signed))
  return { ...presented, signature }
}

async function explain(input: string) {
  const args = ['explain', '--json']
  const { code, stdout } = await runCommand(args, { stdin: typed(input) })
  return { code, facts: JSON.parse(stdout) }
}

const checksOf = async (signed: SignedPayment) => {
  const { code, facts } = await explain(encodePayment(signed))
  return { code, checks: facts.checks }
}

test('a payment of its payer passes, with its fields and digest', async () => {
  const signed = await sign(payment)
  const { code, facts } = await explain(encodePayment(signed))
  expect(code).toBe(0)
  expect(facts).toMatchObject({
    kind: 'payment',
    primaryType: payment.primaryType,
    message: {
      from: payer.address.toLowerCase(),
      nonce: payment.message.nonce,
    },
    digest: expect.stringMatching(/^0x[\da-f]{64}$/),
  })
  expect(JSON.stringify(facts)).not.toContain('signature":"0x')
})

test('an unsigned payment is explained without a signature', async () => {
  const { code, facts } = await explain(encodePayment(payment))
  expect(code).toBe(0)
  expect(facts.checks).toMatchObject([{ check: 'window', ok: true }])
})

test('the field in which the signed message differs is named', async () => {
  const domain = { ...payment.domain, name: 'USDC' }
  const { code, checks } = await checksOf(
    await sign({ ...payment, domain }, payment),
  )
  expect(code).toBe(1)
  expect(checks).toContainEqual({
    check: 'signature',
    ok: false,
    words: expect.stringContaining('name was "USDC"'),
  })
})

test('a signature of someone else names the signer', async () => {
  const other = samplePayment({
    from: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
    validAfter: now - 60n,
    validBefore: now + 900n,
  })
  const { code, checks } = await checksOf(await sign(other))
  expect(code).toBe(1)
  expect(checks).toContainEqual({
    check: 'signature',
    ok: false,
    words: `not of the payer: ${payer.address.toLowerCase()} signed this message`,
  })
})

test.each([
  [now + 100n, now + 200n, 'begins later than this machine’s clock shows'],
  [now - 200n, now - 100n, 'is over by this machine’s clock'],
])('a window from %s to %s fails', async (validAfter, validBefore, words) => {
  const message = { ...payment.message, validAfter, validBefore }
  const { code, checks } = await checksOf(await sign({ ...payment, message }))
  expect(code).toBe(1)
  expect(checks).toContainEqual({ check: 'window', ok: false, words })
})

test.each([
  [
    encodeErrorResult({
      abi: parseAbi(['error Error(string)']),
      args: ['FiatTokenV2: authorization is used or canceled'],
    }),
    'consumed',
  ],
  [
    encodeErrorResult({
      abi: parseAbi(['error EnforcedPause()']),
    }),
    'paused',
  ],
  ['0x' as Hex, 'unsupportedToken'],
])('the data of a revert is explained: %s', async (data, reason) => {
  const { code, facts } = await explain(data)
  expect(code).toBe(1)
  expect(facts).toMatchObject({ kind: 'revert', reason })
})

const ones = '1'.repeat(64)

test.each([
  [`0x${ones}${ones}1b`, 'as tokens accept it', 0],
  [
    `0x${ones}${ones}00`,
    'with a v or s that tokens refuse, which countersign converts',
    0,
  ],
  [`0x${ones}${ones}`, 'short form of EIP-2098, which is expanded', 0],
  [`0x${ones}${ones}${ones}`, 'of a contract wallet', 0],
  ['0x1234', 'no wallet makes this', 1],
])(
  'a signature is explained by its form alone: %s',
  async (hex, form, code) => {
    const found = await explain(hex)
    expect(found.code).toBe(code)
    expect(found.facts).toMatchObject({ kind: 'signature', form })
    expect(JSON.stringify(found.facts)).not.toContain(hex.slice(2))
  },
)

const token = '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913'
const padded = (digit: string) => `0x${digit.repeat(40).padStart(64, '0')}`
const used =
  '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5'
const canceled =
  '0x1cdd46ff242716cdaa72d159d339a485b3438398348d68f09d7c8c0a59353d81'
const transfer =
  '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const nonce = `0x${'5'.repeat(64)}`
const log = (topics: string[], data = '0x') => ({
  address: token,
  topics,
  data,
})
const spent = log([used, padded('a'), nonce])
const moved = (from: string) =>
  log([transfer, padded(from), padded('b')], `0x${'1'.padStart(64, '0')}`)

test.each([
  ['captured', [spent, moved('a')], '0x1', ['captured'], 0],
  ['consumed', [spent, moved('c')], '0x1', ['consumed'], 0],
  [
    'consumed before another capture',
    [spent, log([used, padded('c'), nonce]), moved('a')],
    '0x1',
    ['consumed', 'consumed'],
    0,
  ],
  [
    'canceled',
    [log([canceled, padded('a'), nonce])],
    'success',
    ['canceled'],
    0,
  ],
  ['reverted', [spent, moved('a')], '0x0', [], 1],
  ['of another kind', [moved('a')], '0x1', [], 1],
])('a receipt is explained: %s', async (_, logs, status, effects, code) => {
  const receipt = { status, transactionHash: nonce, blockNumber: '0x7', logs }
  for (const given of [receipt, { jsonrpc: '2.0', id: 1, result: receipt }]) {
    const found = await explain(JSON.stringify(given))
    expect(found.code).toBe(code)
    expect(found.facts).toMatchObject({
      kind: 'receipt',
      blockNumber: '7',
      effects: effects.map((effect) => ({ effect })),
    })
  }
})
