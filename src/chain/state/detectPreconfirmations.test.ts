import { createClient, custom, numberToHex, zeroHash } from 'viem'
import { expect, test } from 'vitest'
import { detectPreconfirmations } from './detectPreconfirmations.js'

type Chain = {
  head: number
  /** Returns the time of a block in Unix seconds. */
  time: (number: number) => number
  pending?: unknown
  extra?: object
}

const fail = (code: number) => {
  throw Object.assign(new Error('pending block is not available'), { code })
}

function detect({ head, time, pending = null, extra = {} }: Chain) {
  const block = (number: number) => ({
    number: numberToHex(number),
    hash: `0x${'ab'.repeat(32)}`,
    timestamp: numberToHex(time(number)),
    ...extra,
  })
  const request = async ({ params }: { params: readonly string[] }) => {
    const [selector = ''] = params
    if (selector === 'latest') return block(head)
    if (selector !== 'pending') return block(Number(selector))
    return typeof pending === 'function' ? pending() : pending
  }
  const transport = custom({ request: request as never }, { retryCount: 0 })
  return detectPreconfirmations(createClient({ transport }))
}

const start = 1_795_000_000
const every = (seconds: number) => (number: number) =>
  start + Math.floor(number * seconds)

test('five blocks a second are fast blocks', async () => {
  const chain = { head: 1000, time: every(0.2) }
  const pending = { number: '0x3e8', hash: `0x${'ab'.repeat(32)}` }
  expect(await detect({ ...chain, pending })).toEqual({
    kind: 'fastBlocks',
    tag: 'latest',
    pollingInterval: 100,
    evidence: {
      latestBlock: 1000n,
      pendingBlock: 1000n,
      pendingHasZeroHash: false,
      secondsPerBlock: 0.2,
      hasMilliseconds: false,
    },
  })
})

test.each([
  ['of 2 s', every(2)],
  ['of 1 s', every(1)],
  ['all within one second', () => start],
  ['after a pause, all at once', (n: number) => start + (n > 970 ? 60 : 0)],
  ['in two bursts', (n: number) => start + (n > 975 ? 9 : 0)],
  ['in a burst before a pause', (n: number) => start + (n > 999 ? 3 : 0)],
  [
    'that were fast before they became slow',
    (n: number) => (start + (n < 980 ? n / 5 : 196 + (n - 980) * 2)) | 0,
  ],
])('blocks %s are no fast blocks', async (_, time) => {
  expect(await detect({ head: 1000, time })).toMatchObject({ kind: 'none' })
})

test('a chain too young to show a pace is none', async () => {
  expect(await detect({ head: 39, time: every(0.2) })).toEqual({
    kind: 'none',
    tag: 'latest',
    pollingInterval: 1000,
    evidence: {
      latestBlock: 39n,
      pendingBlock: undefined,
      pendingHasZeroHash: false,
      secondsPerBlock: 7 / 39,
      hasMilliseconds: false,
    },
  })
})

test('a chain of one block is none', async () => {
  const { kind, evidence } = await detect({ head: 0, time: () => start })
  expect([kind, evidence.secondsPerBlock]).toEqual(['none', 0])
})

test('milliseconds show fast blocks on a chain of any age', async () => {
  const extra = { timestampMs: '0x19b0a2c3d4e' }
  const { kind, evidence } = await detect({ head: 1, time: every(0.2), extra })
  expect([kind, evidence.hasMilliseconds]).toEqual(['fastBlocks', true])
})

test('a zero hash of the pending block shows Flashblocks', async () => {
  const pending = { number: '0x3e9', hash: zeroHash }
  expect(await detect({ head: 1000, time: every(2), pending })).toEqual({
    kind: 'flashblocks',
    tag: 'pending',
    pollingInterval: 100,
    evidence: {
      latestBlock: 1000n,
      pendingBlock: 1001n,
      pendingHasZeroHash: true,
      secondsPerBlock: 2,
      hasMilliseconds: false,
    },
  })
})

test('a Flashblocks view that is stuck behind latest is not to be asked', async () => {
  const pending = { number: numberToHex(550), hash: zeroHash }
  expect(await detect({ head: 1000, time: every(2), pending })).toMatchObject({
    kind: 'flashblocks',
    tag: 'latest',
    evidence: { latestBlock: 1000n, pendingBlock: 550n },
  })
})

test.each([-32000, -32601, -39001])(
  'a node that answers %d to pending has no pending block',
  async (code) => {
    const pending = () => fail(code)
    expect(await detect({ head: 1000, time: every(2), pending })).toMatchObject(
      { kind: 'none', evidence: { pendingBlock: undefined } },
    )
  },
)

test.each([-32603, -32005])('a fault (%d) is thrown', async (code) => {
  const pending = () => fail(code)
  await expect(
    detect({ head: 1000, time: every(2), pending }),
  ).rejects.toMatchObject({ name: 'NodeError', retryable: true })
})

test.each([
  ['pending', { pending: { number: 'soon', hash: null } }],
  ['time', { extra: { timestamp: 1_795_000_000 } }],
  ['number', { extra: { number: null } }],
])('a malformed %s is named', async (_, changes) => {
  await expect(
    detect({ head: 1000, time: every(2), ...changes }),
  ).rejects.toMatchObject({
    name: 'NodeAnswerError',
    details: { method: 'eth_getBlockByNumber' },
  })
})
