import { expect, test } from 'vitest'
import {
  address,
  fakeNode,
  logsOf,
  refuse,
  rpcLog,
  sizeOf,
  topic,
} from '../../../test/unit/support/fakeLogNode.js'
import { getLogs } from './getLogs.js'
import { streamLogs } from './streamLogs.js'

test('a range wider than allowed is split and comes back whole', async () => {
  const { client, asked } = fakeNode()
  const logs = await getLogs(client, {
    address,
    fromBlock: 1n,
    toBlock: 25n,
    maxBlockRange: 10n,
  })
  expect(asked.map(sizeOf)).toEqual([10, 10, 5])
  expect(logs.map((log) => Number(log.blockNumber))).toEqual(
    Array.from({ length: 25 }, (_, i) => i + 1),
  )
})

test('tags are pinned to numbers once', async () => {
  const { client, asked } = fakeNode()
  await getLogs(client, {
    address,
    fromBlock: 'safe',
    toBlock: 'latest',
    maxBlockRange: 30n,
  })
  expect(asked).toEqual([
    { address, fromBlock: '0x32', toBlock: '0x4f' },
    { address, fromBlock: '0x50', toBlock: '0x64' },
  ])
})

test('absent ends mean the newest block', async () => {
  const { client, asked } = fakeNode(() => [])
  await getLogs(client, { address })
  expect(asked).toEqual([{ address, fromBlock: 'latest', toBlock: 'latest' }])
})

test('a block hash goes alone, a range beside it is dropped', async () => {
  const { client, asked } = fakeNode(() => [])
  await getLogs(client, { blockHash: topic, fromBlock: 1n, toBlock: 2n })
  expect(asked).toEqual([{ blockHash: topic }])
})

test('both ends pending are sent as they are', async () => {
  const { client, asked } = fakeNode(() => [])
  await getLogs(client, { address, fromBlock: 'pending', toBlock: 'pending' })
  expect(asked).toEqual([{ address, fromBlock: 'pending', toBlock: 'pending' }])
})

test('a range up to pending is the sealed blocks by number, and pending apart', async () => {
  const { client, asked } = fakeNode(() => [])
  await getLogs(client, {
    address,
    fromBlock: 91n,
    toBlock: 'pending',
    maxBlockRange: 5n,
    concurrency: 1,
  })
  expect(asked.map(({ fromBlock, toBlock }) => [fromBlock, toBlock])).toEqual([
    ['pending', 'pending'],
    ['0x5b', '0x5f'],
    ['0x60', '0x64'],
  ])
})

test('logs come sorted and each once, the sealed copy first', async () => {
  const sealed = rpcLog(5)
  const pending = rpcLog(5, { blockHash: `0x${'0'.repeat(64)}` })
  const { client } = fakeNode(() => [
    pending,
    rpcLog(9),
    sealed,
    rpcLog(2),
    sealed,
  ])
  const logs = await getLogs(client, { address, fromBlock: 1n, toBlock: 9n })
  expect(
    logs.map((log) => [Number(log.blockNumber), log.preconfirmed]),
  ).toEqual([
    [2, false],
    [5, false],
    [9, false],
  ])
})

test('a zero block hash marks a log as pre-confirmed and is not passed on', async () => {
  const { client } = fakeNode(() => [
    rpcLog(101, {
      blockHash: `0x${'0'.repeat(64)}`,
      blockTimestamp: 1750000000,
    }),
  ])
  const [log] = await getLogs(client, {
    address,
    fromBlock: 'pending',
    toBlock: 'pending',
  })
  expect(log).toMatchObject({
    preconfirmed: true,
    blockHash: undefined,
    blockTimestamp: 1_750_000_000n,
  })
})

test('progress counts blocks and logs', async () => {
  const { client } = fakeNode()
  const seen: unknown[] = []
  await getLogs(client, {
    address,
    fromBlock: 1n,
    toBlock: 15n,
    maxBlockRange: 10n,
    concurrency: 1,
    onProgress: (progress) => seen.push(progress),
  })
  expect(seen).toEqual([
    { done: 10n, total: 15n, logs: 10 },
    { done: 15n, total: 15n, logs: 15 },
  ])
})

test('an aborted signal ends it', async () => {
  const { client, asked } = fakeNode()
  const signal = AbortSignal.abort(new Error('enough'))
  await expect(
    getLogs(client, { address, fromBlock: 1n, toBlock: 2n, signal }),
  ).rejects.toThrow('enough')
  expect(asked).toEqual([])
})

test.each([
  ['the newest block', {}],
  ['a range', { fromBlock: 1n, toBlock: 2n }],
  ['a range up to a tag', { fromBlock: 1n }],
  ['a block', { blockHash: `0x${'1'.repeat(64)}` as const }],
  ['what is pending', { fromBlock: 'pending', toBlock: 'pending' } as const],
])(
  'a signal ends the read of %s while the node is silent',
  async (_, range) => {
    const abort = new AbortController()
    const { client } = fakeNode(() => {
      abort.abort(new Error('enough'))
      return new Promise(() => {})
    })
    const read = getLogs(client, { address, ...range, signal: abort.signal })
    await expect(read).rejects.toThrow('enough')
  },
)

test('a signal ends a stream while the node is silent', async () => {
  const abort = new AbortController()
  const { client } = fakeNode(() => {
    abort.abort(new Error('enough'))
    return new Promise(() => {})
  })
  const { signal } = abort
  const chunks = streamLogs(client, { address, fromBlock: 1n, signal })
  await expect(chunks.next()).rejects.toThrow('enough')
})

test('nothing is told of the progress of a read that was aborted', async () => {
  const abort = new AbortController()
  const { client } = fakeNode((filter) => {
    abort.abort(new Error('enough'))
    return logsOf(filter)
  })
  const told: unknown[] = []
  const read = getLogs(client, {
    address,
    fromBlock: 1n,
    toBlock: 2n,
    signal: abort.signal,
    onProgress: (progress) => told.push(progress),
  })
  await expect(read).rejects.toThrow('enough')
  await new Promise((resolve) => setTimeout(resolve, 0))
  expect(told).toEqual([])
})

test('a range from above the head up to pending is what is pre-confirmed there', async () => {
  const preconfirmed = [101, 102].map((block) =>
    rpcLog(block, { blockHash: `0x${'0'.repeat(64)}` }),
  )
  const { client, asked } = fakeNode(() => preconfirmed)
  const logs = await getLogs(client, {
    address,
    fromBlock: 102n,
    toBlock: 'pending',
  })
  expect(logs.map(({ blockNumber }) => blockNumber)).toEqual([102n])
  expect(asked).toEqual([{ address, fromBlock: 'pending', toBlock: 'pending' }])
})

test('a read of one request is one part of progress', async () => {
  const { client } = fakeNode(() => [rpcLog(100)])
  const told: unknown[] = []
  await getLogs(client, { address, onProgress: (it) => told.push(it) })
  expect(told).toEqual([{ done: 1n, total: 1n, logs: 1 }])
})

test.each([
  ['an empty filter', {}],
  ['five topics', { topics: [null, null, null, null, null] }],
  ['a short topic', { topics: ['0x12'] }],
  [
    'a mistyped address',
    { address: '0x036CbD53842c5426634e7929541eC2318f3dCF7c' },
  ],
  ['a bad block', { address, fromBlock: 'soon' }],
  ['a negative block', { address, fromBlock: -1n }],
  ['a range upside down', { address, fromBlock: 9n, toBlock: 8n }],
  ['a list of no addresses', { address: [] }],
  ['a topic of no alternatives', { address, topics: [[]] }],
  ['a request of no blocks', { address, fromBlock: 1n, maxBlockRange: 0n }],
  ['no concurrency', { address, fromBlock: 1n, concurrency: Number.NaN }],
])('%s is refused before anything is sent', async (_, filter) => {
  const { client, asked } = fakeNode()
  await expect(getLogs(client, filter as never)).rejects.toMatchObject({
    name: 'InvalidFieldError',
  })
  expect(asked).toEqual([])
})

test('a stream resumed at its end gives nothing more', async () => {
  const { client, asked } = fakeNode()
  let cursor = 0n
  const range = { address, toBlock: 20n } as const
  for await (const chunk of streamLogs(client, { ...range, fromBlock: 1n }))
    cursor = chunk.cursor
  asked.length = 0
  for await (const _ of streamLogs(client, { ...range, fromBlock: cursor }))
    expect.unreachable()
  expect([cursor, asked]).toEqual([21n, []])
})

test('a stuck snapshot adds nothing to a range up to pending', async () => {
  const stuck = { blockHash: `0x${'0'.repeat(64)}` }
  const { client, asked } = fakeNode((filter) =>
    filter.toBlock === 'pending'
      ? [rpcLog(40, stuck), rpcLog(95), rpcLog(99, stuck), rpcLog(101, stuck)]
      : logsOf(filter),
  )
  const range = { fromBlock: 99n, toBlock: 'pending' } as const
  const logs = await getLogs(client, { address, ...range })
  expect(logs.map((log) => [log.blockNumber, log.preconfirmed])).toEqual([
    [99n, false],
    [100n, false],
    [101n, true],
  ])
  expect(asked.at(-1)).toEqual({ address, fromBlock: '0x63', toBlock: '0x64' })
})

test('a client made from another shares what its endpoint has shown', async () => {
  const { client, asked } = fakeNode((filter) =>
    sizeOf(filter) > 7
      ? refuse(-32614, 'eth_getLogs is limited to a 7 range')
      : logsOf(filter),
  )
  const range = { fromBlock: 1n, toBlock: 14n, concurrency: 1 }
  await getLogs(client, { ...range, address })
  asked.length = 0
  const other = client.extend(() => ({ other: true }))
  await getLogs(other, { ...range, address })
  expect(asked.map(sizeOf)).toEqual([7, 7])
})

test('a pending log above the head is pre-confirmed, although the node names a block hash', async () => {
  const { client } = fakeNode(() => [rpcLog(100), rpcLog(101)])
  const logs = await getLogs(client, {
    address,
    fromBlock: 'pending',
    toBlock: 'pending',
  })
  expect(logs.map((log) => [log.preconfirmed, log.blockHash])).toEqual([
    [false, rpcLog(100).blockHash],
    [true, undefined],
  ])
})

test('a node that answers a range up to pending with no logs loses none', async () => {
  const { client } = fakeNode((filter) =>
    filter.toBlock === 'pending' ? [] : logsOf(filter),
  )
  const range = { fromBlock: 97n, toBlock: 'pending' } as const
  expect(await getLogs(client, { address, ...range })).toHaveLength(4)
})

test('a node that has no pending logs gives the sealed ones', async () => {
  const { client } = fakeNode((filter) =>
    filter.toBlock === 'pending'
      ? refuse(-32000, 'pending logs are not supported')
      : logsOf(filter),
  )
  const range = { fromBlock: 97n, toBlock: 'pending' } as const
  expect(await getLogs(client, { address, ...range })).toHaveLength(4)
})

test('a pre-confirmed log may have no index, a sealed one may not', async () => {
  const early = { blockHash: null, logIndex: null }
  const { client } = fakeNode((filter) =>
    filter.toBlock === 'pending'
      ? [rpcLog(101, early), rpcLog(101, early)]
      : logsOf(filter),
  )
  const range = { fromBlock: 100n, toBlock: 'pending' } as const
  const logs = await getLogs(client, { address, ...range })
  expect(logs.map((log) => [log.preconfirmed, log.logIndex])).toEqual([
    [false, 0],
    [true, undefined],
    [true, undefined],
  ])
  const sealed = fakeNode(() => [rpcLog(1, { logIndex: null })])
  await expect(
    getLogs(sealed.client, { address, fromBlock: 1n, toBlock: 1n }),
  ).rejects.toMatchObject({
    details: { problem: 'holds a malformed quantity' },
  })
})

test('logs of two blocks with one height are asked for again, and then an error', async () => {
  const other = { blockHash: `0x${'e'.repeat(64)}`, logIndex: '0x1' }
  for (const place of [
    { fromBlock: 5n, toBlock: 5n },
    { fromBlock: 'latest', toBlock: 'latest' },
    { fromBlock: 'pending', toBlock: 'pending' },
  ] as const) {
    let odd = 1
    const { client, asked } = fakeNode(() =>
      odd-- > 0 ? [rpcLog(5), rpcLog(5, other)] : [rpcLog(5)],
    )
    // The newest block is asked for by its number then, which is 100.
    const read = getLogs(client, { address, ...place })
    if (place.fromBlock === 'latest') await read.catch(() => undefined)
    else expect(await read).toHaveLength(1)
    expect(asked.length).toBeGreaterThan(1)
    odd = 100
    await expect(getLogs(client, { address, ...place })).rejects.toMatchObject({
      name: 'NodeAnswerError',
      retryable: true,
    })
  }
})

test('a log that a reorganization removed is never returned', async () => {
  const removed = { removed: true, blockHash: `0x${'e'.repeat(64)}` }
  const { client } = fakeNode(() => [
    rpcLog(5, removed),
    rpcLog(5),
    rpcLog(6, removed),
  ])
  const logs = await getLogs(client, { address, fromBlock: 5n, toBlock: 6n })
  expect(logs.map(({ blockNumber }) => blockNumber)).toEqual([5n])
})
