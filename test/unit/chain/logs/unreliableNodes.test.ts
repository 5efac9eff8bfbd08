import {
  type Client,
  createClient,
  custom,
  HttpRequestError,
  numberToHex,
} from 'viem'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { getLogs } from '../../../../src/chain/logs/getLogs.js'
import { streamLogs } from '../../../../src/chain/logs/streamLogs.js'
import { address, logsOf, refuse, sizeOf } from '../../support/fakeLogNode.js'

beforeAll(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
})
afterAll(() => {
  vi.useRealTimers()
})

/** Lets time pass until the promise settles. Returns the milliseconds. */
async function settle<result>(
  work: Promise<result>,
): Promise<{ result?: result; error?: unknown; took: number }> {
  let settled: { result?: result; error?: unknown } | undefined
  work.then(
    (result) => {
      settled = { result }
    },
    (error: unknown) => {
      settled = { error }
    },
  )
  let took = 0
  for (; !settled; took += 10) {
    vi.advanceTimersByTime(10)
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { ...settled, took }
}

type Filter = { fromBlock?: string; toBlock?: string }
type Asked = { method: string; params: [Filter] }

/** A fake node whose head and whose logs may come from different replicas. */
function fakeReplicas(
  answer: (filter: Filter) => unknown,
  {
    head = () => 4_999,
    logHead = () => 1_000_000,
  }: { head?: () => number; logHead?: () => number } = {},
): { client: Client; asked: Filter[] } {
  const asked: Filter[] = []
  const request = async ({ method, params }: Asked) => {
    const [first] = params
    if (method === 'eth_blockNumber') return numberToHex(head())
    if (method === 'eth_getBlockByNumber')
      return Number(first) <= logHead() ? { number: first } : null
    if (method !== 'eth_getLogs') return refuse(-32601, 'no such method')
    asked.push(first)
    return answer(first)
  }
  const transport = custom({ request: request as never }, { retryCount: 0 })
  return { client: createClient({ transport }), asked }
}

const wide = { address, fromBlock: 0n, toBlock: 4_999n } as const

const outage = (): never => {
  throw new HttpRequestError({
    url: 'http://node',
    status: 503,
    details: '{"code":-32011,"message":"no backend is currently healthy"}',
  })
}

test('an outage behind a gateway is temporary, and is told after a handful of requests', async () => {
  const { client, asked } = fakeReplicas(outage)
  const { error } = await settle(getLogs(client, wide))
  expect(error).toMatchObject({
    name: 'NodeError',
    retryable: true,
    details: { status: 503, code: -32011 },
  })
  expect(asked.length).toBeLessThan(16)
})

test('a wide range that a gateway reports as an outage is narrowed', async () => {
  const { client, asked } = fakeReplicas((filter) =>
    sizeOf(filter) > 300 ? outage() : logsOf(filter),
  )
  const { result } = await settle(getLogs(client, wide))
  expect(result).toHaveLength(5_000)
  expect(asked.length).toBeLessThan(50)
})

test('pruned history ends a read at once, and for good', async () => {
  const { client, asked } = fakeReplicas(() =>
    refuse(4444, 'pruned history unavailable'),
  )
  const { error, took } = await settle(getLogs(client, wide))
  expect(error).toMatchObject({
    name: 'LogRangeError',
    retryable: false,
    details: { kind: 'pruned', block: 0n },
  })
  expect([asked.length, took]).toEqual([3, 10])
})

test('a read that is refused for good asks no more often than a binary search', async () => {
  const { client, asked } = fakeReplicas(() =>
    refuse(-32602, 'block range is too wide'),
  )
  const { error } = await settle(getLogs(client, wide))
  expect(error).toMatchObject({ name: 'LogRangeError', retryable: false })
  // Three pieces, eleven halvings, and one request that tells why.
  expect(asked.length).toBeLessThanOrEqual(3 + 11 + 1)
})

test('a limit that was learned grows again', async () => {
  let refusals = 7
  const { client, asked } = fakeReplicas((filter) =>
    refusals-- > 0 ? refuse(-32602, 'block range is too wide') : logsOf(filter),
  )
  await settle(getLogs(client, { ...wide, toBlock: 1_999n }))
  asked.length = 0
  await settle(getLogs(client, wide))
  // At the limit of 16 blocks that it learned, these were 313.
  expect(asked.length).toBeLessThan(25)
})

test('a limit that stays is tried ever less often', async () => {
  const { client, asked } = fakeReplicas((filter) =>
    sizeOf(filter) > 16
      ? refuse(-32602, 'block range is too wide')
      : logsOf(filter),
  )
  const { result } = await settle(getLogs(client, wide))
  expect(result).toHaveLength(5_000)
  const refused = asked.filter((filter) => sizeOf(filter) > 16)
  expect(refused.length).toBeLessThan(30)
})

test.each([null, undefined])(
  'an answer of %s is one error after a handful of requests',
  async (answer) => {
    const { client, asked } = fakeReplicas(() => answer)
    const { error, took } = await settle(getLogs(client, wide))
    expect(error).toMatchObject({
      name: 'NodeAnswerError',
      details: { method: 'eth_getLogs' },
    })
    expect(asked.length).toBeLessThan(16)
    expect(took).toBeLessThan(4_000)
  },
)

test('an answer of null is no empty list either where a single block is read', async () => {
  const { client, asked } = fakeReplicas(() => null)
  const { error } = await settle(getLogs(client, { ...wide, toBlock: 0n }))
  expect(error).toMatchObject({
    name: 'NodeAnswerError',
    message: 'The answer to eth_getLogs is null instead of a list.',
  })
  expect(asked.length).toBeLessThan(8)
})

const lagging = (isSilent: boolean) => {
  let head = 4_990
  setTimeout(() => {
    head = 4_999
  }, 300)
  return fakeReplicas(
    (filter) => {
      if (Number(filter.toBlock) <= head) return logsOf(filter)
      if (!isSilent) return refuse(-32602, 'invalid block range')
      return logsOf({ ...filter, toBlock: numberToHex(head) })
    },
    { logHead: () => head },
  )
}

test.each([
  ['says so', false],
  ['leaves them out without a word', true],
])(
  'the newest blocks come although a replica is behind and %s',
  async (_, isSilent) => {
    const { client, asked } = lagging(isSilent)
    const { result } = await settle(
      getLogs(client, { address, fromBlock: 4_000n, toBlock: 'latest' }),
    )
    expect(result?.at(-1)?.blockNumber).toBe(4_999n)
    expect(result).toHaveLength(1_000)
    // It learned no limit from that.
    asked.length = 0
    await settle(getLogs(client, { ...wide, toBlock: 1_999n }))
    expect(asked).toHaveLength(1)
  },
)

test.each([false, true])(
  'a stream passes no block that a replica does not have yet (silent: %s)',
  async (isSilent) => {
    const { client } = lagging(isSilent)
    const collect = async () => {
      const blocks: bigint[] = []
      const range = { address, fromBlock: 4_900n } as const
      for await (const { logs } of streamLogs(client, range))
        blocks.push(...logs.map(({ blockNumber }) => blockNumber))
      return blocks
    }
    const { result } = await settle(collect())
    expect(result).toHaveLength(100)
  },
)

test('a replica that stays behind is an error that names the block', async () => {
  const { client } = fakeReplicas(() => [], { logHead: () => 4_990 })
  const { error, took } = await settle(getLogs(client, wide))
  expect(error).toMatchObject({
    name: 'NodeAnswerError',
    retryable: true,
    details: {
      method: 'eth_getBlockByNumber',
      problem: expect.stringContaining('has no block 4999'),
    },
  })
  expect(took).toBeLessThan(5_000)
})
