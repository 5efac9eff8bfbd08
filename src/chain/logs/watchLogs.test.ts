import { createClient, custom, numberToHex } from 'viem'
import { afterEach, expect, test, vi } from 'vitest'
import { type WatchLogsParameters, watchLogs } from './watchLogs.js'

const address = '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913'
const hashOf = (block: number, fork = 0) =>
  `0x${fork}${block.toString(16).padStart(63, '0')}`

type Request = { method: string; params: [unknown] }
const unwatches: (() => void)[] = []
afterEach(() => {
  for (const unwatch of unwatches.splice(0)) unwatch()
})

/**
 * Watches a fake node that has one log in each block. Tests change the fields
 * of `node`.
 */
function watchFake(parameters: Partial<WatchLogsParameters> = {}) {
  const node = {
    head: 3,
    safe: 0 as number | null,
    fork: 0,
    /**
     * Replaces the node's answer by what this returns, or throws. `undefined`
     * keeps the answer.
     */
    intercept: (_: Request): unknown => undefined,
  }
  const asked: { fromBlock: string; toBlock: string }[] = []
  const block = (number: number | null) =>
    number === null
      ? null
      : {
          number: numberToHex(number),
          hash: hashOf(number, node.fork),
          timestamp: '0x1',
        }
  const answer = ({ method, params: [first] }: Request): unknown => {
    if (method === 'eth_blockNumber') return numberToHex(node.head)
    if (method === 'eth_getBlockByNumber') {
      const tags: Record<string, number | null> = {
        latest: node.head,
        safe: node.safe,
      }
      const tag = tags[String(first)]
      return block(tag === undefined ? Number(first) : tag)
    }
    const filter = first as { fromBlock: string; toBlock: string }
    asked.push(filter)
    const [from, to] = [Number(filter.fromBlock), Number(filter.toBlock)]
    const size = Math.max(0, Math.min(to, node.head, from + 50) - from + 1)
    return Array.from({ length: size }, (_, i) => rpcLog(from + i, node.fork))
  }
  const request = async (question: Request): Promise<unknown> =>
    node.intercept(question) ?? answer(question)
  const client = createClient({
    transport: custom({ request }, { retryCount: 0 }),
  })
  const events: string[] = []
  const errors: unknown[] = []
  const unwatch = watchLogs(client, {
    address,
    fromBlock: 1n,
    pollingInterval: 5,
    onEvent: (event) =>
      events.push(
        event.type === 'gap' ? 'gap' : `${event.type} ${event.log.blockNumber}`,
      ),
    onError: (error) => errors.push(error),
    ...parameters,
  })
  unwatches.push(unwatch)
  return { node, asked, events, errors, unwatch }
}

function rpcLog(block: number, fork = 0): object {
  return {
    address,
    topics: [],
    data: '0x',
    blockNumber: numberToHex(block),
    blockHash: hashOf(block, fork),
    transactionHash: hashOf(block),
    transactionIndex: '0x0',
    logIndex: '0x0',
  }
}

const until = (check: () => void) =>
  vi.waitFor(check, { timeout: 5_000, interval: 5 })
const looks = () => new Promise((resolve) => setTimeout(resolve, 60))
const included = ['included 1', 'included 2', 'included 3']

test('a handler that throws is told of, and the rest comes', async () => {
  const seen: string[] = []
  const { errors } = watchFake({
    onEvent: ({ type }) => {
      seen.push(type)
      throw new Error('not my day')
    },
  })
  await until(() => expect(seen).toHaveLength(3))
  await looks()
  expect(seen).toHaveLength(3)
  expect(errors.map(String)).toEqual(Array(3).fill('Error: not my day'))
})

test('a handler of errors that throws does not end the watch', async () => {
  const { node, events } = watchFake({
    onError: () => {
      throw new Error('nor mine')
    },
  })
  node.intercept = () => {
    throw new Error('broken')
  }
  await looks()
  node.intercept = () => undefined
  await until(() => expect(events).toEqual(included))
})

test('a node that refuses pending still has its sealed logs told', async () => {
  const { node, events, errors } = watchFake({ preconfirmed: true })
  node.intercept = ({ params: [first] }) => {
    if (Object(first).fromBlock === 'pending') throw new Error('no pending')
    return undefined
  }
  await until(() => expect(events).toEqual(included))
  expect(errors[0]).toMatchObject({ name: 'NodeError' })
})

test('a finality whose logs could not be read is told later', async () => {
  const { node, events } = watchFake({ finality: 'safe' })
  await until(() => expect(events).toEqual(included))
  let failures = 0
  node.safe = 2
  node.intercept = ({ params: [first] }) => {
    if (Object(first).toBlock !== '0x2' || failures++ > 0) return undefined
    throw Object.assign(new Error('unsupported'), { code: -32601 })
  }
  await until(() => expect(events.slice(3)).toEqual(['safe 1', 'safe 2']))
  expect(failures).toBeGreaterThan(1)
})

test('a node without a safe block is told of once', async () => {
  const { node, events, errors } = watchFake({ finality: 'safe' })
  node.safe = null
  await until(() => expect(events).toEqual(included))
  await looks()
  expect(errors.map((error) => Object(error).name)).toEqual([
    'FinalityUnsupportedError',
  ])
})

test('a chain that gets shorter takes back what it replaced', async () => {
  const { node, events } = watchFake()
  await until(() => expect(events).toEqual(included))
  node.fork = 1
  node.head = 2
  const again = ['removed 1', 'removed 2', 'included 1', 'included 2']
  await until(() => expect(events.slice(3)).toEqual(again))
  node.head = 3
  const last = ['removed 3', 'included 3']
  await until(() => expect(events.slice(7)).toEqual(last))
})

test('an answer that lacks logs of a block that still stands removes none', async () => {
  const { node, events } = watchFake()
  await until(() => expect(events).toEqual(included))
  node.intercept = ({ method }) => (method === 'eth_getLogs' ? [] : undefined)
  await looks()
  expect(events).toEqual(included)
})

test('a block of another number proves nothing', async () => {
  const { node, events } = watchFake()
  await until(() => expect(events).toEqual(included))
  node.intercept = ({ method, params: [first] }) => {
    if (method === 'eth_getLogs') return []
    if (first === 'latest') return undefined
    return { number: '0x63', hash: hashOf(99), timestamp: '0x1' }
  }
  await looks()
  expect(events).toEqual(included)
})

test('a long backfill that is interrupted goes on where it was', async () => {
  const { node, asked, errors } = watchFake()
  node.head = 20_000
  let failures = 0
  node.intercept = ({ method, params: [first] }) => {
    const isFar = Number(Object(first).fromBlock) > 12_000
    if (method !== 'eth_getLogs' || !isFar || failures++ > 0) return undefined
    throw Object.assign(new Error('unsupported'), { code: -32601 })
  }
  await until(() => expect(asked.at(-1)?.toBlock).toBe(numberToHex(20_000)))
  expect(errors).toHaveLength(1)
  expect(asked.filter(({ toBlock }) => toBlock === '0x7d0')).toHaveLength(1)
})

test('nothing is told after the watch has ended in the middle of a look', async () => {
  const { node, events, errors, unwatch } = watchFake()
  const answers: (() => void)[] = []
  node.intercept = ({ method }) =>
    method === 'eth_getLogs'
      ? new Promise((resolve) => answers.push(() => resolve([rpcLog(1)])))
      : undefined
  await until(() => expect(answers.length).toBeGreaterThan(0))
  unwatch()
  for (const give of answers) give()
  await looks()
  expect([events, errors]).toEqual([[], []])
})

test('an async handler that fails is told of, and the rest comes', async () => {
  const { errors } = watchFake({
    onEvent: async () => {
      throw new Error('not my day either')
    },
  })
  await until(() => expect(errors).toHaveLength(3))
  expect(String(errors[0])).toBe('Error: not my day either')
})

test.each<[string, object]>([
  ['was removed', { removed: true }],
  ['is not sealed', { blockHash: `0x${'0'.repeat(64)}` }],
])('a log among the sealed ones that %s is not included', async (_, more) => {
  const { node, events } = watchFake()
  node.intercept = ({ method }) =>
    method === 'eth_getLogs'
      ? [{ ...rpcLog(1), ...more }, rpcLog(2)]
      : undefined
  await until(() => expect(events).toEqual(['included 2']))
  await looks()
  expect(events).toEqual(['included 2'])
})

test('logs of another contract are an error, and come to nobody', async () => {
  const { node, events, errors } = watchFake()
  node.intercept = ({ method }) =>
    method === 'eth_getLogs'
      ? [{ ...rpcLog(1), address: `0x${'1'.repeat(40)}` }]
      : undefined
  await until(() => expect(errors.length).toBeGreaterThan(0))
  node.intercept = () => undefined
  await until(() => expect(events).toEqual(included))
  expect(errors[0]).toMatchObject({
    name: 'NodeAnswerError',
    details: { problem: 'has a log that does not match the filter' },
  })
})

test('what nobody saw within the overlap is told when it is safe', async () => {
  const { node, events } = watchFake({ finality: 'safe', overlap: 2n })
  node.head = 20
  node.intercept = ({ method, params: [first] }) =>
    method === 'eth_getLogs' && Object(first).fromBlock === '0x1'
      ? [rpcLog(20)]
      : undefined
  await until(() => expect(events.length).toBeGreaterThan(2))
  expect(events).not.toContain('included 3')
  node.intercept = () => undefined
  node.safe = 3
  const late = [1, 2, 3].map((block) => `included ${block}`)
  const safe = [1, 2, 3].map((block) => `safe ${block}`)
  await until(() => expect(events.slice(-6)).toEqual([...late, ...safe]))
  await looks()
  expect(events.filter((event) => event === 'safe 3')).toHaveLength(1)
})

test('blocks that are safe are read for that once, with logs or without', async () => {
  const { node, asked, events } = watchFake({ finality: 'safe', overlap: 0n })
  node.intercept = ({ method, params: [first] }) => {
    if (method !== 'eth_getLogs') return undefined
    asked.push(first as never)
    return []
  }
  node.safe = 2
  const ofSafe = () => asked.filter(({ toBlock }) => toBlock === '0x2')
  await until(() => expect(ofSafe()).toHaveLength(1))
  await looks()
  expect(ofSafe()).toEqual([{ address, fromBlock: '0x1', toBlock: '0x2' }])
  expect(events).toEqual([])
})

test.each([
  ['fromBlock', { fromBlock: 1 }],
  ['fromBlock', { fromBlock: -1n }],
  ['overlap', { overlap: -1n }],
  ['address', { address: [] }],
  ['finality', { finality: 'sure' }],
  ['pollingInterval', { pollingInterval: Number.NaN }],
  ['pollingInterval', { pollingInterval: Number.POSITIVE_INFINITY }],
  ['pollingInterval', { pollingInterval: -1 }],
  ['webSocket', { webSocket: 'nowhere' }],
])('a wrong %s is refused at once: %o', (field, parameters) => {
  expect(() => watchFake(parameters as never)).toThrow(
    expect.objectContaining({
      name: 'InvalidFieldError',
      details: expect.objectContaining({ field }),
    }),
  )
})
