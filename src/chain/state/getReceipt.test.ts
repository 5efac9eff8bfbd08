import { createClient, custom, zeroHash } from 'viem'
import { expect, test } from 'vitest'
import { getReceipt, getReceipts } from './getReceipt.js'

const hash = `0x${'ab'.repeat(32)}` as const

const sealed = {
  status: '0x1',
  transactionHash: hash,
  blockHash: `0x${'cd'.repeat(32)}`,
  blockNumber: '0x10',
  from: '0x1111111111111111111111111111111111111111',
  gasUsed: '0x5208',
  effectiveGasPrice: '0x1',
  logs: [],
}

const log = {
  address: '0x2222222222222222222222222222222222222222',
  topics: [],
  data: '0x',
  logIndex: null,
}

const nodeOf = (receipt: object) =>
  createClient({ transport: custom({ request: async () => receipt }) })

test.each<[string, object]>([
  ['block hash', { blockHash: null }],
  ['block number', { blockNumber: null }],
  ['block', { blockHash: null, blockNumber: null }],
  ['block and no status', { blockHash: null, blockNumber: null, status: null }],
  ['block hash and unplaced logs', { blockHash: null, logs: [log] }],
  [
    'block hash, status and logs',
    { blockHash: null, status: null, logs: null },
  ],
  [
    'block number, under a zero hash',
    { blockHash: zeroHash, blockNumber: null },
  ],
])('a receipt without a %s proves nothing', async (_, changes) => {
  const client = nodeOf({ ...sealed, ...changes })
  expect(await getReceipt(client, hash)).toBeUndefined()
  expect(await getReceipts(client, [hash])).toEqual([undefined])
})

test('a receipt of a block that is being made keeps its zero hash', async () => {
  const client = nodeOf({ ...sealed, blockHash: zeroHash })
  const expected = { blockHash: zeroHash, blockNumber: 16n, status: 'success' }
  expect(await getReceipt(client, hash)).toMatchObject(expected)
  expect(await getReceipts(client, [hash])).toMatchObject([expected])
})

test('a malformed receipt of a sealed block is a fault of the node', async () => {
  const client = nodeOf({ ...sealed, gasUsed: 'much' })
  await expect(getReceipt(client, hash)).rejects.toMatchObject({
    name: 'NodeAnswerError',
  })
})
