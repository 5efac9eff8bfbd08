import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { StoreError } from '../../store/errors.js'
import type { ChannelRecord } from '../../store/types.js'
import { openStreamCharge } from './streamCharge.js'
import type { SignedCall } from './types.js'

const word = `0x${'22'.repeat(32)}` as const
const channel = {
  id: word,
  chainId: 1,
  token: word,
  payer: word,
  state: 'open',
  charged: 100n,
  signed: 110n,
  balance: 1_000n,
  claimed: 0n,
  withdrawing: 0n,
  version: 1,
} as unknown as ChannelRecord

/** A stream of a channel whose store takes a while for each write. */
function openStream(most = 1_000n) {
  const writes: bigint[] = []
  let row = channel
  let note: { key: string; data: object } | undefined
  const charge = vi.fn(async (given) => {
    await new Promise((resolve) => setTimeout(resolve, 10))
    if (given.channel.version !== row.version) return undefined
    writes.push(given.value)
    note = given.note
    row = {
      ...given.channel,
      charged: given.channel.charged + given.value,
      signed: given.maxClaimable,
      version: given.channel.version + 1,
    }
    return row
  })
  const same = async (text: string) => text
  const sealer = { seal: same, open: same }
  const read = async (work: (tables: object) => unknown) =>
    work({ notes: { find: async () => (note ? [note] : []) } })
  const stream = openStreamCharge({
    call: {
      gate: {
        timeout: 1_000,
        keepFor: 0n,
        instance: { hold: (work: unknown) => work },
        context: { sealer, now: () => 0n, store: { read } },
      },
      desk: { charge, reload: async () => row },
      terms: { value: most, offer: { maxTimeoutSeconds: 300 } },
      named: { id: word },
      payload: { maxClaimable: 1_100n },
      signature: word,
      bound: word,
    } as unknown as SignedCall,
    sent: undefined,
    run: 'ab',
  })
  return {
    ...stream,
    charge,
    writes,
    change: (changes: Partial<ChannelRecord>) => {
      row = { ...row, ...changes, version: row.version + 1 }
    },
  }
}

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

test('totals that come faster than the store writes share a write', async () => {
  const stream = openStream()
  stream.begin(channel, 0n)
  const raised = Promise.all(
    Array.from({ length: 50 }, (_, place) => stream.raise(BigInt(place + 1))),
  )
  await vi.advanceTimersByTimeAsync(100)
  await raised
  expect(stream.writes.length).toBeLessThanOrEqual(2)
  expect(stream.writes.reduce((sum, value) => sum + value)).toBe(50n)
})

test('a stream that never ends holds its channel for the time of the offer', async () => {
  const stream = openStream()
  stream.begin(channel, 0n)
  const isOver = vi.fn()
  stream.over.then(isOver)
  await vi.advanceTimersByTimeAsync(299_000)
  expect(isOver).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(2_000)
  expect(isOver).toHaveBeenCalled()
  await expect(stream.raise(1n)).rejects.toMatchObject({
    name: 'ChargeRejectedError',
    details: { reason: 'ended' },
  })
  expect(stream.writes).toEqual([])
})

test('a stream that has cost the most no longer holds its channel', async () => {
  const stream = openStream(10n)
  stream.begin(channel, 4n)
  const raised = stream.raise(10n)
  await vi.advanceTimersByTimeAsync(10)
  await raised
  await stream.over
  expect(stream.writes).toEqual([6n])
})

test('a total whose commit is not known is written once', async () => {
  const stream = openStream()
  stream.begin(channel, 0n)
  const charge = stream.charge.getMockImplementation()
  stream.charge.mockImplementationOnce(async (given) => {
    await charge?.(given)
    throw new StoreError('lost the connection', true)
  })
  const raised = stream.raise(5n)
  await vi.advanceTimersByTimeAsync(500)
  await raised
  expect(stream.writes).toEqual([5n])
})

test('a copy of the chain does not disturb a stream, and a request of another process ends it', async () => {
  const stream = openStream()
  stream.begin(channel, 0n)
  stream.change({ claimed: 100n })
  const raised = stream.raise(5n)
  await vi.advanceTimersByTimeAsync(100)
  await raised
  expect(stream.writes).toEqual([5n])
  stream.change({ charged: 110n })
  const refused = expect(stream.raise(6n)).rejects.toMatchObject({
    details: { reason: 'channelChanged' },
  })
  await vi.advanceTimersByTimeAsync(100)
  await refused
})

test('a stream whose charge was refused no longer holds its channel, nor asks the store', async () => {
  const stream = openStream()
  stream.begin(channel, 0n)
  stream.change({ charged: 110n })
  const refused = expect(stream.raise(6n)).rejects.toMatchObject({
    details: { reason: 'channelChanged' },
  })
  await vi.advanceTimersByTimeAsync(100)
  await refused
  await stream.over
  const asked = stream.charge.mock.calls.length
  await expect(stream.raise(7n)).rejects.toMatchObject({
    details: { reason: 'ended' },
  })
  expect(stream.charge).toHaveBeenCalledTimes(asked)
})

test.each([
  [
    'its payer announces a withdrawal',
    { state: 'stopped', reason: 'withdrawal', withdrawing: 890n },
    110n,
  ],
  ['a refund begins', { state: 'stopped', reason: 'refund' }, 100n],
  [
    'its early deposit is gone',
    { state: 'stopped', reason: 'uncovered', balance: 0n },
    100n,
  ],
] as const)(
  'a stream of a channel costs nothing that can be lost when %s',
  async (_, changes, most) => {
    const stream = openStream()
    stream.begin(channel, 0n)
    stream.change(changes)
    for (let total = 5n; 100n + total <= most; total += 5n) {
      const raised = stream.raise(total)
      await vi.advanceTimersByTimeAsync(100)
      await raised
    }
    const refused = expect(stream.raise(most - 99n)).rejects.toMatchObject({
      details: { reason: 'stopped' },
    })
    await vi.advanceTimersByTimeAsync(100)
    await refused
    const written = stream.writes.reduce((sum, value) => sum + value, 0n)
    expect(100n + written).toBe(most)
  },
)
