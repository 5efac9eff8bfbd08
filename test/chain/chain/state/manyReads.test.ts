import { startDevChain } from 'countersign/devchain'
import { createReadClient } from 'countersign/reads'
import type { Hash } from 'viem'
import { afterAll, expect, test } from 'vitest'
import { getBlockTimes } from '../../../../src/chain/state/getBlockTimes.js'
import {
  getReceipt,
  getReceipts,
} from '../../../../src/chain/state/getReceipt.js'
import { fakeNode, randomHash, rpcError } from '../../support/desk.js'
import { startEndpoint } from '../../support/endpoint.js'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

const { public: reader, relayer, test: control } = chain.clients

const send = async (): Promise<Hash> =>
  (
    await relayer.sendTransactionSync({
      to: relayer.account.address,
      value: 1n,
    })
  ).transactionHash

test('receipts come in the order of their hashes, a missing one as none', async () => {
  const [one, two] = [await send(), await send()]
  const hashes = [two, randomHash(), one, two]
  const [last, none, first, again] = await getReceipts(reader, hashes)
  expect(none).toBeUndefined()
  expect(first).toEqual(await getReceipt(reader, one))
  expect(last).toEqual(await getReceipt(reader, two))
  expect(again).toEqual(last)
})

test('of nothing nothing is asked', async () => {
  const { client, asked } = fakeNode(chain)
  expect(await getReceipts(client, [])).toEqual([])
  expect(await getBlockTimes(client, [])).toEqual(new Map())
  expect(asked).toEqual([])
})

test('a hundred travel together, and five hundred at most are on their way', async () => {
  const { url, asked } = await startEndpoint(chain.urls.http)
  const mined = await send()
  const hashes = Array.from({ length: 1_234 }, (_, at) =>
    at % 100 === 7 ? mined : randomHash(),
  )
  const receipts = await getReceipts(createReadClient({ url }), hashes)
  expect(receipts).toHaveLength(1_234)
  const found = receipts.flatMap((one, at) => (one ? [at] : []))
  expect(found).toEqual(Array.from({ length: 13 }, (_, at) => at * 100 + 7))
  expect(asked.map((calls) => calls.length).sort()).toEqual(
    [...Array(12).fill(100), 34].sort(),
  )

  let flying = 0
  let most = 0
  const { client } = fakeNode(chain, async () => {
    most = Math.max(most, ++flying)
    await new Promise((resolve) => setTimeout(resolve, 5))
    flying--
    return null
  })
  await getReceipts(client, hashes)
  expect(most).toBe(500)
})

test('after a failure no further chunk is asked', async () => {
  const { client, asked } = fakeNode(chain, async () => {
    throw rpcError(-32000, 'no')
  })
  const hashes = Array.from({ length: 1_000 }, randomHash)
  await expect(getReceipts(client, hashes)).rejects.toMatchObject({
    name: 'NodeError',
    details: { method: 'eth_getTransactionReceipt' },
  })
  expect(asked).toHaveLength(500)
})

test('blocks give hash and time once each, those ahead of the chain nothing', async () => {
  await control.mine({ blocks: 3 })
  const { number, hash, timestamp } = await reader.getBlock()
  const before = await reader.getBlock({ blockNumber: number - 1n })
  const { client, asked } = fakeNode(chain)
  expect(
    await getBlockTimes(client, [number, number - 1n, number, number + 9n]),
  ).toEqual(
    new Map([
      [number, { hash, timestamp }],
      [number - 1n, { hash: before.hash, timestamp: before.timestamp }],
    ]),
  )
  expect(asked).toHaveLength(3)
})

test('another block than the one asked for is an error', async () => {
  const { number } = await reader.getBlock()
  const { client } = fakeNode(chain, ({ method }) =>
    reader.request({ method, params: ['0x0', false] } as never),
  )
  await expect(getBlockTimes(client, [number])).rejects.toMatchObject({
    name: 'NodeAnswerError',
    details: { problem: `is not block ${number}` },
  })
})
