import {
  createClient,
  custom,
  type Hash,
  RpcRequestError,
  TimeoutError,
} from 'viem'
import { expect, test } from 'vitest'
import { getLogs } from './getLogs.js'
import { streamLogs } from './streamLogs.js'

const address = '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913'
const topic = `0x${'ab'.repeat(32)}` as const
const other = `0x${'cd'.repeat(20)}` as const

type Filter = { fromBlock?: string; toBlock?: string; blockHash?: string }
type Answer = (filter: Filter) => unknown

/** A node with one log a block, up to block 100, and no receipts. */
const fakeNode = (answer: Answer = logsOf) => {
  const asked: Filter[] = []
  const client = createClient({
    transport: custom(
      {
        async request({ method, params }) {
          if (method === 'eth_blockNumber') return '0x64'
          if (method === 'eth_getBlockByNumber')
            return {
              number: '0x32',
              timestamp: '0x1',
              hash: `0x${'1'.repeat(64)}`,
              transactions: [`0x${'2'.repeat(64)}`],
            }
          if (/Receipt/.test(method)) refuse(-32601, 'no such method')
          asked.push(params[0])
          return answer(params[0])
        },
      },
      { retryCount: 0 },
    ),
  })
  return { client, asked }
}

const rpcLog = (block: number, more: object = {}) => ({
  address,
  topics: [topic],
  data: '0x',
  blockNumber: `0x${block.toString(16)}`,
  blockHash: `0x${block.toString(16).padStart(64, '1')}`,
  transactionHash: `0x${block.toString(16).padStart(64, '2')}`,
  transactionIndex: '0x0',
  logIndex: '0x0',
  removed: false,
  ...more,
})

function logsOf({ fromBlock, toBlock }: Filter): object[] {
  const [first, last] = [Number(fromBlock), Number(toBlock)]
  return Array.from({ length: last - first + 1 }, (_, i) => rpcLog(first + i))
}

function refuse(code: number, message: string): never {
  throw new RpcRequestError({ body: {}, url: '', error: { code, message } })
}

const sizeOf = ({ fromBlock, toBlock }: Filter) =>
  Number(toBlock) - Number(fromBlock) + 1

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

test('a range up to pending ends with a request for pending', async () => {
  const { client, asked } = fakeNode(() => [])
  await getLogs(client, {
    address,
    fromBlock: 91n,
    toBlock: 'pending',
    maxBlockRange: 5n,
    concurrency: 1,
  })
  expect(asked.map(({ toBlock }) => toBlock)).toEqual(['0x5f', 'pending'])
})

test('a stated limit is used and remembered', async () => {
  const { client, asked } = fakeNode((filter) =>
    sizeOf(filter) > 7
      ? refuse(-32614, 'eth_getLogs is limited to a 7 range')
      : logsOf(filter),
  )
  await getLogs(client, {
    address,
    fromBlock: 1n,
    toBlock: 20n,
    concurrency: 1,
  })
  asked.length = 0
  await getLogs(client, {
    address,
    fromBlock: 1n,
    toBlock: 20n,
    concurrency: 1,
  })
  expect(asked.map(sizeOf)).toEqual([7, 7, 6])
})

test('a suggestion that is not smaller is not trusted', async () => {
  const { client, asked } = fakeNode((filter) =>
    sizeOf(filter) > 4
      ? refuse(-32602, 'query exceeds max results 9, retry with the range 1-16')
      : logsOf(filter),
  )
  const logs = await getLogs(client, {
    address,
    fromBlock: 1n,
    toBlock: 16n,
    concurrency: 1,
  })
  expect(logs).toHaveLength(16)
  expect(asked.length).toBeLessThan(10)
})

test('an unknown wording is bisected and ends', async () => {
  const { client } = fakeNode((filter) =>
    sizeOf(filter) > 3 ? refuse(-32000, 'computer says no') : logsOf(filter),
  )
  const logs = await getLogs(client, { address, fromBlock: 0n, toBlock: 99n })
  expect(logs).toHaveLength(100)
})

test("one refused block is an error with the provider's words", async () => {
  const { client } = fakeNode(() => refuse(-32000, 'computer says no'))
  await expect(
    getLogs(client, { address, fromBlock: 8n, toBlock: 11n, concurrency: 1 }),
  ).rejects.toMatchObject({
    name: 'LogRangeError',
    details: { block: 8n, kind: 'fault', words: 'computer says no' },
  })
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

test('a refusal of the newest block names it and carries the words', async () => {
  const words = 'query returned more than 10000 results'
  const { client } = fakeNode(() => refuse(-32005, words))
  await expect(getLogs(client, { address })).rejects.toMatchObject({
    name: 'LogRangeError',
    details: { block: 100n, kind: 'tooManyResults', words },
  })
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

test.each([
  ['no list', 'logs'],
  ['a log without topics', [{ ...rpcLog(1), topics: undefined }]],
  ['a bad quantity', [rpcLog(1, { logIndex: 'one' })]],
  ['a short hash', [rpcLog(1, { transactionHash: '0x12' })]],
  ['a short block hash', [rpcLog(1, { blockHash: '0x12' })]],
  ['a block hash that is a number', [rpcLog(1, { blockHash: 12 })]],
  ['data that is no hex', [rpcLog(1, { data: 'none' })]],
  ['a log of another contract', [rpcLog(1, { address: other })]],
  ['a log of another event', [rpcLog(1, { topics: [`0x${'cd'.repeat(32)}`] })]],
  ['a log of no event', [rpcLog(1, { topics: [] })]],
])('an answer with %s is an error', async (_, answer) => {
  const { client } = fakeNode(() => answer)
  await expect(
    getLogs(client, {
      address,
      topics: [topic],
      fromBlock: 1n,
      toBlock: 1n,
    }),
  ).rejects.toMatchObject({ name: 'NodeAnswerError' })
})

test.each([
  { address },
  { address: [other, address] },
  { topics: [] },
  { topics: [topic] },
  { topics: [topic, null, null] },
  { topics: [[`0x${'cd'.repeat(32)}`, topic]] },
  { topics: [null] },
] as const)('a log of upper-case hex is one of %o', async (filter) => {
  const { client } = fakeNode(() => [
    rpcLog(1, {
      address: `0x${address.slice(2).toUpperCase()}`,
      topics: [`0x${topic.slice(2).toUpperCase()}`],
    }),
  ])
  const range = { fromBlock: 1n, toBlock: 1n }
  expect(await getLogs(client, { ...filter, ...range })).toHaveLength(1)
})

test('logs of another block than the one named by its hash are an error', async () => {
  const { client } = fakeNode(() => [rpcLog(1)])
  const { blockHash } = rpcLog(1)
  expect(await getLogs(client, { blockHash: blockHash as Hash })).toHaveLength(
    1,
  )
  await expect(getLogs(client, { blockHash: topic })).rejects.toMatchObject({
    name: 'NodeAnswerError',
  })
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

test('a wide range may be cut into very many narrow pieces', async () => {
  const { client } = fakeNode((filter) =>
    sizeOf(filter) > 5
      ? refuse(-32614, 'eth_getLogs is limited to a 5 range')
      : [],
  )
  const stop = new AbortController()
  const reading = getLogs(client, {
    address,
    fromBlock: 0n,
    toBlock: 999_999n,
    maxBlockRange: 1_000_000n,
    signal: stop.signal,
    onProgress: ({ done }) => stop.abort(`${done} blocks are enough`),
  })
  await expect(reading).rejects.toBe('5 blocks are enough')
})

test('a refusal of one block says nothing about the width of others', async () => {
  const { client, asked } = fakeNode((filter) =>
    Number(filter.fromBlock) < 5
      ? refuse(-32000, 'block range is pruned')
      : logsOf(filter),
  )
  const read = (fromBlock: bigint) =>
    getLogs(client, { address, fromBlock, toBlock: 90n, concurrency: 1 })
  await expect(read(1n)).rejects.toMatchObject({ name: 'LogRangeError' })
  asked.length = 0
  expect(await read(11n)).toHaveLength(80)
  expect(asked).toHaveLength(1)
})

test('an answer with logs of other blocks is asked for again', async () => {
  const { client, asked } = fakeNode((filter) =>
    asked.length === 1 ? [rpcLog(77)] : logsOf(filter),
  )
  const logs = await getLogs(client, { address, fromBlock: 1n, toBlock: 3n })
  expect(logs.map((log) => log.blockNumber)).toEqual([1n, 2n, 3n])
  expect(asked).toHaveLength(2)
})

test('an answer cut short is asked for again', async () => {
  const { client, asked } = fakeNode((filter) =>
    asked.length === 1 ? [null] : logsOf(filter),
  )
  const logs = await getLogs(client, { address, fromBlock: 1n, toBlock: 3n })
  expect(logs).toHaveLength(3)
})

test('one block that took too long is asked for again', async () => {
  const { client, asked } = fakeNode((filter) => {
    if (asked.length > 1) return logsOf(filter)
    throw new TimeoutError({ body: {}, url: '' })
  })
  const logs = await getLogs(client, { address, fromBlock: 1n, toBlock: 1n })
  expect(logs).toHaveLength(1)
  expect(asked).toHaveLength(2)
})

test('a stuck snapshot adds nothing to a range up to pending', async () => {
  const stuck = { blockHash: `0x${'0'.repeat(64)}` }
  const { client, asked } = fakeNode((filter) =>
    filter.toBlock === 'pending'
      ? [rpcLog(40, stuck), rpcLog(95), rpcLog(99, stuck), rpcLog(101, stuck)]
      : logsOf(filter),
  )
  const range = { fromBlock: 95n, toBlock: 'pending' } as const
  const logs = await getLogs(client, { address, ...range })
  expect(logs.map((log) => [log.blockNumber, log.preconfirmed])).toEqual([
    [95n, false],
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
