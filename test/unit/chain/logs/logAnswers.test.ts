import type { Hash } from 'viem'
import { expect, test } from 'vitest'
import { getLogs } from '../../../../src/chain/logs/getLogs.js'
import {
  address,
  fakeNode,
  logsOf,
  rpcLog,
  topic,
} from '../../support/fakeLogNode.js'

const other = `0x${'cd'.repeat(20)}` as const

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
