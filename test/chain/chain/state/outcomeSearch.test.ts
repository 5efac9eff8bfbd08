import { getPaymentOutcome } from 'countersign'
import { getLogs } from 'countersign/reads'
import { getBlockNumber, mine } from 'viem/actions'
import { expect, test } from 'vitest'
import { draft, fakeNode, rpcError } from '../../support/desk.js'
import { capture, chain, node, reader } from '../../support/outcomeDesk.js'

/** The block ranges of all log requests. */
const ranges = (asked: readonly { method: string; params?: unknown }[]) =>
  asked
    .filter(({ method }) => method === 'eth_getLogs')
    .map(({ params }) => {
      const [filter] = params as [{ fromBlock: string; toBlock: string }]
      return [Number(filter.fromBlock), Number(filter.toBlock)]
    })

test('logs are searched back in bounded ranges, newest first', async () => {
  const payment = await draft(chain)
  await capture(payment)
  const at = Number(await getBlockNumber(reader, { cacheTime: 0 }))
  await mine(node, { blocks: 23 })
  const { client, asked } = fakeNode(chain)
  const maxBlockRange = 5n
  const outcome = await getPaymentOutcome(client, { payment, maxBlockRange })
  expect(outcome.status).toBe('captured')
  expect(ranges(asked)).toEqual([
    [at + 19, at + 23],
    [at + 14, at + 18],
    [at + 9, at + 13],
    [at + 4, at + 8],
    [at - 1, at + 3],
  ])
})

test('the first block ends the search of a payment valid since ever', async () => {
  const payment = await draft(chain, { validAfter: 0n })
  await capture(payment)
  const { client, asked } = fakeNode(chain, async ({ method }, forward) =>
    method === 'eth_getLogs' ? [] : forward(),
  )
  expect(
    await getPaymentOutcome(client, { payment, maxBlockRange: 50n }),
  ).toEqual({
    status: 'unknown',
    searchedFrom: 0n,
  })
  expect(ranges(asked).at(-1)?.[0]).toBe(0)
})

test.each([
  [-32005, 'query returned more than 10000 results'],
  [-32614, 'eth_getLogs is limited to a 3 block range'],
  [-32602, 'Log response size exceeded'],
  [-32002, 'query timeout exceeded, reduce your block range'],
  [-32005, 'please limit the query to at most 3 blocks'],
  [-32000, 'computer says no'],
])('a node that answers %d "%s" gets smaller ranges', async (code, words) => {
  const payment = await draft(chain)
  const hash = await capture(payment)
  await mine(node, { blocks: 12 })
  const { client, asked } = fakeNode(
    chain,
    async ({ method, params }, forward) => {
      if (method !== 'eth_getLogs') return forward()
      const [filter] = params as [{ fromBlock: string; toBlock: string }]
      if (Number(filter.toBlock) - Number(filter.fromBlock) >= 3)
        throw rpcError(code, words)
      return forward()
    },
  )
  const search = { payment, maxBlockRange: 24n }
  expect(await getPaymentOutcome(client, search)).toMatchObject({
    status: 'captured',
    proof: { transactionHash: hash },
  })
  const widths = ranges(asked).map(([first = 0, last = 0]) => last - first + 1)
  expect([...new Set(widths)]).toEqual([24, 12, 6, 3])
})

const refused = { name: 'LogRangeError', retryable: false }
const unserved = { name: 'NodeError', retryable: false }
const passing = { name: 'NodeError', retryable: true }

test.each([
  // The last request finds out whether it refuses the block or only its logs.
  ['refuses every range', rpcError(-32602, 'range too wide'), refused, 7],
  ['says nothing known', rpcError(-32000, 'no'), refused, 7],
  ['has no logs', rpcError(-32601, 'no such method'), unserved, 1],
  ['is overloaded', rpcError(-32005, 'rate limit exceeded'), passing, 1],
  [
    'lags behind',
    rpcError(-32602, 'block range extends beyond current head block'),
    passing,
    1,
  ],
])(
  'a node that %s is an error and no endless loop',
  async (_, failure, error, requests) => {
    const payment = await draft(chain)
    await capture(payment)
    const { client, asked } = fakeNode(chain, async ({ method }, forward) => {
      if (method === 'eth_getLogs') throw failure
      return forward()
    })
    const search = { payment, maxBlockRange: 32n }
    await expect(getPaymentOutcome(client, search)).rejects.toMatchObject(error)
    expect(ranges(asked)).toHaveLength(requests)
  },
)

/** A node that takes few blocks at once, and says so in its own words. */
const narrowNode = (blocks: number) =>
  fakeNode(chain, async ({ method, params }, forward) => {
    const { fromBlock, toBlock } = Object(Object(params)[0])
    if (method === 'eth_getLogs' && toBlock - fromBlock >= blocks)
      throw rpcError(-32614, `eth_getLogs is limited to a ${blocks} range`)
    return forward()
  })

const widthsOf = (asked: Parameters<typeof ranges>[0]) =>
  ranges(asked).map(([first = 0, last = 0]) => last - first + 1)

test('the limit getLogs has learned bounds the search of an outcome', async () => {
  const payment = await draft(chain)
  await capture(payment)
  const head = await getBlockNumber(reader, { cacheTime: 0 })
  await mine(node, { blocks: 12 })
  const { client, asked } = narrowNode(5)
  const range = { fromBlock: head - 10n, toBlock: head }
  await getLogs(client, { address: chain.token, ...range })
  const before = asked.length
  const outcome = await getPaymentOutcome(client, { payment })
  expect(outcome.status).toBe('captured')
  expect(widthsOf(asked.slice(before))).toEqual([5, 5, 5])
})

test('the limit the search of an outcome has learned bounds getLogs', async () => {
  const payment = await draft(chain)
  await capture(payment)
  const { client, asked } = narrowNode(6)
  await getPaymentOutcome(client, { payment, maxBlockRange: 24n })
  const before = asked.length
  const head = await getBlockNumber(reader, { cacheTime: 0 })
  const range = { fromBlock: head - 11n, toBlock: head }
  await getLogs(client, { address: chain.token, ...range })
  expect(widthsOf(asked.slice(before))).toEqual([6, 6])
})

test('a range of no blocks is refused', async () => {
  const payment = await draft(chain)
  await capture(payment)
  await expect(
    getPaymentOutcome(reader, { payment, maxBlockRange: 0n }),
  ).rejects.toMatchObject({ name: 'InvalidFieldError' })
})

test('a log without its receipt is a contradiction and not an outcome', async () => {
  const payment = await draft(chain)
  await capture(payment)
  const { client } = fakeNode(chain, async ({ method }, forward) =>
    method === 'eth_getTransactionReceipt' ? null : forward(),
  )
  await expect(getPaymentOutcome(client, { payment })).rejects.toMatchObject({
    name: 'NodeAnswerError',
    retryable: true,
  })
})
