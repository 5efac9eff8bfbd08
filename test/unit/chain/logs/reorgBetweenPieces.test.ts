import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createReadClient } from 'countersign/reads'
import { expect, onTestFinished, test } from 'vitest'
import { address, rpcLog } from '../../support/fakeLogNode.js'

type Call = { id: number; method: string; params: [never] }

/**
 * A node with one log a block. After some requests, a reorganization replaces
 * the blocks from `from` on.
 */
async function startNode(reorgs: { after: number; from: number }[]) {
  const requests: Call[][] = []
  const hashOf = (block: number) => {
    const isSo = ({ after, from }: (typeof reorgs)[number]) =>
      requests.length > after && block >= from
    const forks = reorgs.map((reorg, at) => (isSo(reorg) ? at + 1 : 0))
    const fork = String(Math.max(0, ...forks) % 10)
    return `0x${fork}${block.toString(16).padStart(63, '0')}`
  }
  const answer = ({ method, params: [first] }: Call): unknown => {
    if (method === 'eth_getBlockByNumber') {
      const number = Number(first)
      return { number: first, timestamp: '0x1', hash: hashOf(number) }
    }
    const { fromBlock, toBlock } = Object(first)
    const [from, to] = [Number(fromBlock), Number(toBlock)]
    return Array.from({ length: to - from + 1 }, (_, at) =>
      rpcLog(from + at, { blockHash: hashOf(from + at) }),
    )
  }
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const body = JSON.parse(text)
    const calls: Call[] = [body].flat()
    requests.push(calls)
    const answers = calls.map((call) => ({ id: call.id, result: answer(call) }))
    response.end(JSON.stringify(Array.isArray(body) ? answers : answers[0]))
  })
  await new Promise<void>((resolve) => server.listen(0, resolve))
  onTestFinished(() => {
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, requests, hashOf }
}

const range = {
  address,
  fromBlock: 1n,
  toBlock: 40n,
  maxBlockRange: 10n,
} as const
const methodsOf = (calls: readonly Call[] | undefined) =>
  calls?.map(({ method }) => method.replace('eth_get', '')).sort()

test('the last blocks of earlier pieces are asked again in the request of the last piece', async () => {
  const { url, requests } = await startNode([])
  const client = createReadClient({ url })
  const logs = await client.getLogs({ ...range, concurrency: 1 })
  expect(logs).toHaveLength(40)
  expect(requests).toHaveLength(4)
  expect(methodsOf(requests[2])).toEqual(['BlockByNumber', 'Logs'])
  expect(methodsOf(requests[3])).toEqual([
    ...Array(4).fill('BlockByNumber'),
    'Logs',
  ])
})

test.each([
  ['one after the other', { concurrency: 1 }, 100],
  ['two at a time', { concurrency: 2 }, 100],
  ['all at once', { concurrency: 4 }, 100],
  ['one after the other, without batches', { concurrency: 1 }, false],
  ['all at once, without batches', { concurrency: 4 }, false],
] as const)(
  'pieces that are read %s are of one chain after reorganizations between them',
  async (_, how, batch) => {
    for (let after = 1; after < 9; after++) {
      const node = await startNode([
        { after, from: 15 },
        { after: after + 3, from: 8 },
      ])
      const client = createReadClient({ url: node.url, batch })
      const seen: bigint[] = []
      const logs = await client.getLogs({
        ...range,
        ...how,
        onProgress: ({ done }) => seen.push(done),
      })
      // Those reorganizations that come after the read change nothing.
      node.requests.length = Math.min(node.requests.length, 100)
      expect(logs.map(({ blockNumber }) => Number(blockNumber))).toEqual(
        Array.from({ length: 40 }, (_, at) => at + 1),
      )
      expect(logs.map(({ blockHash }) => blockHash)).toEqual(
        logs.map(({ blockNumber }) => node.hashOf(Number(blockNumber))),
      )
      expect(seen.at(-1)).toBe(40n)
    }
  },
)

test('a chain that changes with each request is an error after ten tries', async () => {
  const reorgs = Array.from({ length: 200 }, (_, after) => ({ after, from: 1 }))
  const { url } = await startNode(reorgs)
  const client = createReadClient({ url })
  await expect(
    client.getLogs({ ...range, concurrency: 1 }),
  ).rejects.toMatchObject({ name: 'NodeAnswerError', retryable: true })
})
