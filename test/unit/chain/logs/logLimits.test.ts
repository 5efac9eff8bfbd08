import { TimeoutError } from 'viem'
import { expect, test } from 'vitest'
import { getLogs } from '../../../../src/chain/logs/getLogs.js'
import {
  address,
  fakeNode,
  logsOf,
  refuse,
  sizeOf,
} from '../../support/fakeLogNode.js'

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

test('a refusal of the newest block names it and carries the words', async () => {
  const words = 'query returned more than 10000 results'
  const { client } = fakeNode(() => refuse(-32005, words))
  await expect(getLogs(client, { address })).rejects.toMatchObject({
    name: 'LogRangeError',
    details: { block: 100n, kind: 'tooManyResults', words },
  })
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

test('one block that took too long is asked for again', async () => {
  const { client, asked } = fakeNode((filter) => {
    if (asked.length > 1) return logsOf(filter)
    throw new TimeoutError({ body: {}, url: '' })
  })
  const logs = await getLogs(client, { address, fromBlock: 1n, toBlock: 1n })
  expect(logs).toHaveLength(1)
  expect(asked).toHaveLength(2)
})
