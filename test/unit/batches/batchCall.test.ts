import { captureCall } from 'countersign'
import { batchCall, multicallCall } from 'countersign/batches'
import { samplePayment } from 'countersign/testing'
import fc from 'fast-check'
import {
  type Address,
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  multicall3Abi,
  parseAbi,
  parseAbiParameters,
} from 'viem'
import { expect, test } from 'vitest'

const account: Address = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'
const token: Address = '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913'

const hexText = () => (bytes: number[]) =>
  `0x${bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('')}` as Hex
const bytes = (minLength: number, maxLength: number) =>
  fc
    .array(fc.integer({ min: 0, max: 255 }), { minLength, maxLength })
    .map(hexText())

/** Calls to contracts that are neither zero nor the account. */
const calls = fc.array(
  fc.record({
    to: bytes(20, 20).filter((to) => BigInt(to) > 0n && to !== account),
    data: bytes(1, 300),
  }),
  { minLength: 1, maxLength: 12 },
)

const mode: Hex = `0x0101${'0'.repeat(60)}`

test("a batch is what viem's own coding gives, byte for byte", () => {
  fc.assert(
    fc.property(calls, (calls) => {
      const list = calls.map(({ to, data }) => ({
        target: to,
        value: 0n,
        callData: data,
      }))
      const items = parseAbiParameters(
        '(address target, uint256 value, bytes callData)[]',
      )
      expect(batchCall({ account, calls })).toMatchObject({
        to: account,
        data: encodeFunctionData({
          abi: parseAbi(['function execute(bytes32 mode, bytes data)']),
          args: [mode, encodeAbiParameters(items, [list])],
        }),
      })
    }),
  )
})

test("calls of Multicall3 are what viem's own coding gives, and each may fail", () => {
  fc.assert(
    fc.property(calls, (calls) => {
      const args = calls.map(({ to, data }) => ({
        target: to,
        allowFailure: true,
        callData: data,
      }))
      expect(multicallCall({ calls })).toMatchObject({
        to: '0xca11bde05977b3631167028862be2a173976ca11',
        data: encodeFunctionData({
          abi: multicall3Abi,
          functionName: 'aggregate3',
          args: [args],
        }),
      })
    }),
  )
})

test('the gas limit is that of the calls as transactions of their own', () => {
  const call = { to: token, data: '0x12' as const }
  const calls = [call, { ...call, gas: 250_000n }]
  expect(batchCall({ account, calls }).gas).toBe(400_000n)
  expect(multicallCall({ calls }).gas).toBe(400_000n)
})

test('calls in upper case, and calls of captureCall, are taken as they are', () => {
  const payment = {
    ...samplePayment(),
    signature: `0x${'11'.repeat(64)}1b` as Hex,
  }
  const { to, data } = captureCall({ payment })
  const upper = { to, data: `0x${data.slice(2).toUpperCase()}` as Hex }
  expect(batchCall({ account, calls: [captureCall({ payment })] })).toEqual(
    batchCall({ account, calls: [upper] }),
  )
})

test.each([
  [
    { calls: [{ to: account, data: '0x12' }] },
    /^calls\[0\]\.to must be another/,
  ],
  [
    { calls: [{ to: `0x${'0'.repeat(40)}`, data: '0x12' }] },
    /^calls\[0\]\.to must be another/,
  ],
  [
    { calls: [] },
    /^calls must be a list of one or more calls, not a list of 0/,
  ],
  [{ calls: 'all' }, /^calls must be a list/],
  [
    { calls: [{ to: token, data: '0x' }] },
    /^calls\[0\]\.data must be call data/,
  ],
  [{ calls: [{ to: token, data: '0x123' }] }, /^calls\[0\]\.data must be call/],
  [{ calls: [{ to: token, data: '0x12' }, null] }, /^calls\[1\]\.data must/],
  [
    { calls: [{ to: '0x12', data: '0x12' }] },
    /^calls\[0\]\.to must be an addr/,
  ],
  [{ account: 'me', calls: [] }, /^account must be an address, not "me"/],
  [{ payments: [] }, /^parameters must be an object with only the members/],
])('a batch is refused: %o', (given, words) => {
  const parameters = { account, ...given } as never
  expect(() => batchCall(parameters)).toThrow(words)
})

test('through Multicall3 nobody captures a Receive payment', () => {
  const signed = (
    primaryType: 'ReceiveWithAuthorization' | 'TransferWithAuthorization',
    size: number,
  ) =>
    captureCall({
      payment: {
        ...samplePayment(),
        primaryType,
        signature: `0x${'11'.repeat(size - 1)}1b`,
      },
    })
  const good = signed('TransferWithAuthorization', 65)
  for (const size of [65, 100])
    expect(() =>
      multicallCall({
        calls: [good, signed('ReceiveWithAuthorization', size)],
      }),
    ).toThrow(
      /^calls\[1\]\.data must be no call of receiveWithAuthorization, not "0x\w{8}"\. Only the recipient can make it: use batchCall\.$/,
    )
})

test('the error about a call never holds its data, which has a signature in it', () => {
  const secret = `${'ab'.repeat(65)}`
  const calls = [{ to: token, data: `0x${secret}a` as Hex }]
  try {
    batchCall({ account, calls })
    expect.unreachable()
  } catch (error) {
    expect(JSON.stringify(error)).not.toContain('abab')
  }
})
