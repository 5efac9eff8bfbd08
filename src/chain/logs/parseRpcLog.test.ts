import { expect, test } from 'vitest'
import { parseRpcLog } from './parseRpcLog.js'

const read = (answer: unknown) => parseRpcLog(answer, 'eth_getLogs')

const log = {
  address: `0x${'aB'.repeat(20)}`,
  topics: [],
  data: '0x',
  blockNumber: '0x5',
  blockHash: `0x${'11'.repeat(32)}`,
  blockTimestamp: '0x6',
  transactionHash: `0x${'22'.repeat(32)}`,
  transactionIndex: '0x1',
  logIndex: '0x2',
  removed: false,
}

// Must stay the first test of this file. The parser remembers the last block
// number, and this test shows that a new parser does not accept a missing one.
test('the very first log without a block number is an error', () => {
  const { blockNumber: _, ...without } = log
  expect(() => read(without)).toThrow('malformed quantity')
})

test('a repeated block number is read again after another one', () => {
  const numbers = ['0x5', '0x5', '0x6', '0x5', 7, '0x0'].map(
    (blockNumber) => read({ ...log, blockNumber }).blockNumber,
  )
  expect(numbers).toEqual([5n, 5n, 6n, 5n, 7n, 0n])
})

test('block numbers and timestamps that repeat do not mix', () => {
  const { blockNumber, blockTimestamp } = read({
    ...log,
    blockNumber: '0x9',
    blockTimestamp: '0x8',
  })
  expect([blockNumber, blockTimestamp]).toEqual([9n, 8n])
})

test('a malformed quantity is not taken for the one before', () => {
  read(log)
  expect(() => read({ ...log, blockNumber: '0xg' })).toThrow(
    'malformed quantity',
  )
  expect(read(log).blockNumber).toBe(5n)
})

test.each([
  ['a fifth topic', { topics: Array(5).fill(log.blockHash) }],
  ['a short topic', { topics: ['0x11'] }],
  ['topics without 0x', { topics: ['1'.repeat(66)] }],
  ['an address without 0x', { address: 'a'.repeat(42) }],
  ['no transaction hash', { transactionHash: null }],
])('%s is a malformed log', (_, change) => {
  expect(() => read({ ...log, ...change })).toThrow('malformed log')
})
