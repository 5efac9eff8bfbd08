import { createReadClient, streamLogs } from 'countersign/reads'
import { type Client, createClient, custom } from 'viem'
import { expect, test, vi } from 'vitest'
import {
  address,
  logsOf,
  refuse,
  rpcLog,
  sizeOf,
} from '../../support/fakeLogNode.js'

type Filter = { fromBlock?: string; toBlock?: string }

/** A node with one log a block that answers when it is let, each request by itself. */
function slowNode(answer: (filter: Filter) => unknown = logsOf) {
  const open: { filter: Filter; let: () => void }[] = []
  const asked: Filter[] = []
  const client = createClient({
    transport: custom(
      {
        async request({ method, params }) {
          if (method !== 'eth_getLogs') return '0x1000000'
          const [filter] = params
          asked.push(filter)
          await new Promise<void>((resolve) => {
            open.push({ filter, let: resolve })
          })
          return answer(filter)
        },
      },
      { retryCount: 0 },
    ),
  })
  const letAll = () => {
    for (const one of open.splice(0)) one.let()
  }
  return { client, open, asked, letAll }
}

const wide = { address, fromBlock: 1n, toBlock: 100_000n } as const

/** Lets the node answer until the work is done. */
async function letUntil<value>(
  { letAll }: ReturnType<typeof slowNode>,
  work: Promise<value>,
): Promise<value> {
  let isDone = false
  const ended = work.finally(() => {
    isDone = true
  })
  ended.catch(() => undefined)
  while (!isDone) {
    letAll()
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  return ended
}

async function collect(client: Client, parameters: object = {}) {
  const blocks: bigint[] = []
  let next = wide.fromBlock as bigint
  for await (const chunk of streamLogs(client, { ...wide, ...parameters })) {
    expect(chunk.fromBlock).toBe(next)
    next = chunk.cursor
    blocks.push(...chunk.logs.map(({ blockNumber }) => blockNumber))
  }
  return blocks
}

const everyBlock = Array.from({ length: 100_000 }, (_, at) => BigInt(at + 1))

test('three chunks are read ahead of the one that is used, and no more', async () => {
  const node = slowNode()
  const stream = streamLogs(node.client, wide)
  const first = stream.next()
  await vi.waitFor(() => expect(node.open).toHaveLength(1))
  node.letAll()
  await first
  await vi.waitFor(() => expect(node.open).toHaveLength(3))
  // They arrive while the first is used: none is started for them.
  node.letAll()
  await new Promise((resolve) => setTimeout(resolve, 5))
  expect(node.open).toHaveLength(0)
  await stream.next()
  await vi.waitFor(() => expect(node.open).toHaveLength(1))
  await stream.return()
  expect(node.asked.length).toBe(5)
})

test('prefetch: 0 reads each chunk when it is asked for', async () => {
  const node = slowNode()
  const stream = streamLogs(node.client, { ...wide, prefetch: 0 })
  for (let count = 1; count <= 3; count++) {
    const chunk = stream.next()
    await vi.waitFor(() => expect(node.open).toHaveLength(1))
    expect(node.asked).toHaveLength(count)
    node.letAll()
    await chunk
  }
  await stream.return()
  expect(node.asked).toHaveLength(3)
})

test.each([0, 1, 3, 10])(
  'with prefetch %i each block comes once and in order, whichever answer is first',
  async (prefetch) => {
    const node = slowNode()
    const backwards = {
      ...node,
      letAll: () => {
        for (const one of node.open.splice(0).reverse()) one.let()
      },
    }
    const all = collect(node.client, { prefetch })
    expect(await letUntil(backwards, all)).toEqual(everyBlock)
  },
)

test('a node that refuses wide ranges or many logs gives the same chunks of blocks', async () => {
  const node = slowNode((filter) => {
    if (sizeOf(filter) > 700)
      refuse(-32005, 'query returned more than 10000 results')
    return logsOf(filter)
  })
  expect(await letUntil(node, collect(node.client))).toEqual(everyBlock)
})

test('a chunk that failed before its turn is read again when its turn comes', async () => {
  let third: string | undefined
  let failures = 0
  const node = slowNode((filter) => {
    third ??= node.asked[2]?.fromBlock
    // A fault that no retry helps.
    if (filter.fromBlock === third && failures++ === 0)
      refuse(-32601, 'the method does not exist')
    return logsOf(filter)
  })
  const stream = streamLogs(node.client, wide)
  const first = stream.next()
  await vi.waitFor(() => expect(node.open).toHaveLength(1))
  node.letAll()
  await first
  await vi.waitFor(() => expect(node.open).toHaveLength(3))
  node.letAll()
  await vi.waitFor(() => expect(failures).toBe(1))
  await stream.next()
  const chunk = await letUntil(node, stream.next())
  expect(chunk.value?.fromBlock).toBe(BigInt(third ?? -1))
  expect(failures).toBe(2)
  await stream.return()
})

test('a chunk that cannot be read fails when its turn comes, after all before it', async () => {
  const node = slowNode((filter) => {
    if (Number(filter.fromBlock) > 2_000)
      refuse(-32601, 'the method does not exist')
    return logsOf(filter)
  })
  const chunks: bigint[] = []
  const work = (async () => {
    for await (const { toBlock } of streamLogs(node.client, wide))
      chunks.push(toBlock)
  })()
  await expect(letUntil(node, work)).rejects.toThrow()
  expect(chunks.at(-1)).toBeGreaterThanOrEqual(2_000n)
  const count = node.asked.length
  await new Promise((resolve) => setTimeout(resolve, 5))
  expect(node.asked).toHaveLength(count)
})

test('the signal ends what is read ahead, and the stream, without an unhandled rejection', async () => {
  const rejections: unknown[] = []
  const note = (reason: unknown) => rejections.push(reason)
  process.on('unhandledRejection', note)
  const node = slowNode(() => refuse(-32603, 'internal error'))
  const good = slowNode()
  for (const { client, open, letAll } of [good, node]) {
    const ending = new AbortController()
    const stream = streamLogs(client, { ...wide, signal: ending.signal })
    const first = stream.next()
    await vi.waitFor(() => expect(open).toHaveLength(1))
    if (client === good.client) {
      letAll()
      await first
      await vi.waitFor(() => expect(open).toHaveLength(3))
    } else first.catch(() => undefined)
    ending.abort(new Error('enough'))
    const end = client === good.client ? stream.next() : first
    await expect(end).rejects.toThrow('enough')
    letAll()
  }
  await new Promise((resolve) => setTimeout(resolve, 20))
  process.off('unhandledRejection', note)
  expect(rejections).toEqual([])
  expect(good.asked).toHaveLength(4)
})

test('return() ends what is read ahead', async () => {
  const node = slowNode(() => [rpcLog(1)])
  const stream = streamLogs(node.client, { ...wide, toBlock: 300n })
  const first = stream.next()
  await vi.waitFor(() => expect(node.open).toHaveLength(1))
  node.letAll()
  await first
  await vi.waitFor(() => expect(node.open.length).toBeGreaterThan(0))
  await stream.return()
  // Each of these answers is wrong, and would be asked for again.
  const count = node.asked.length
  node.letAll()
  await new Promise((resolve) => setTimeout(resolve, 400))
  expect(node.asked).toHaveLength(count)
})

test.each([-1, 1.5, Number.NaN, '3', null])(
  'a prefetch of %s is refused',
  async (prefetch) => {
    const { client } = slowNode()
    const stream = streamLogs(client, { ...wide, prefetch } as never)
    await expect(stream.next()).rejects.toThrow('prefetch must be')
  },
)

test('chunks that are read ahead never share a batch, so none waits for another', async () => {
  const bodies: unknown[] = []
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (_, init) => {
    const body = JSON.parse(String(init?.body))
    bodies.push(body)
    const { id, method, params } = body
    const result = method === 'eth_getLogs' ? logsOf(params[0]) : '0x1000000'
    return Response.json({ jsonrpc: '2.0', id, result })
  })
  const client = createReadClient({ url: 'http://127.0.0.1:1' })
  const range = { ...wide, toBlock: 10_000n }
  let count = 0
  for await (const { logs } of client.streamLogs(range)) count += logs.length
  vi.restoreAllMocks()
  expect(count).toBe(10_000)
  expect(
    bodies.filter(
      (body) =>
        Array.isArray(body) &&
        JSON.stringify(body).split('eth_getLogs').length > 2,
    ),
  ).toEqual([])
})
