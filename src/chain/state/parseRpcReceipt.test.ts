import { pad, zeroHash } from 'viem'
import { expect, test } from 'vitest'
import { parseRpcReceipt } from './parseRpcReceipt.js'

const method = 'eth_getBlockReceipts'
const blockHash = `0x${'b1'.repeat(32)}`
const transactionHash = `0x${'c2'.repeat(32)}`
const logsBloom = `0x${'00'.repeat(256)}`
const from = `0x${'a1'.repeat(20)}`
const to = `0x${'a2'.repeat(20)}`

const log = {
  address: to,
  topics: [pad('0x1')],
  data: '0x',
  blockNumber: '0x1f',
  blockHash,
  transactionHash,
  transactionIndex: '0x2',
  logIndex: '0x5',
  removed: false,
}

const standard = {
  transactionHash,
  transactionIndex: '0x2',
  blockHash,
  blockNumber: '0x1f',
  from,
  to,
  contractAddress: null,
  status: '0x1',
  type: '0x2',
  gasUsed: '0xc350',
  cumulativeGasUsed: '0x186a0',
  effectiveGasPrice: '0x3b9aca07',
  logs: [log],
  logsBloom,
}

const read = {
  transactionHash,
  transactionIndex: 2,
  blockHash,
  blockNumber: 31n,
  from,
  to,
  contractAddress: null,
  status: 'success',
  type: '0x2',
  gasUsed: 50_000n,
  cumulativeGasUsed: 100_000n,
  effectiveGasPrice: 1_000_000_007n,
  logs: [
    {
      address: to,
      topics: [pad('0x1')],
      data: '0x',
      blockNumber: 31n,
      blockHash,
      blockTimestamp: undefined,
      transactionHash,
      transactionIndex: 2,
      logIndex: 5,
      removed: false,
      preconfirmed: false,
    },
  ],
  logsBloom,
  preconfirmed: false,
}

const parseWith = (changes: object) =>
  parseRpcReceipt({ ...standard, ...changes }, method)

test('a receipt of the standard becomes typed values', () => {
  expect(parseRpcReceipt(standard, method)).toEqual(read)
})

test('the answer itself stays as it came', () => {
  const answer = structuredClone(standard)
  parseRpcReceipt(answer, method)
  expect(answer).toEqual(standard)
})

test('every field of an OP-stack receipt is a bigint', () => {
  const fields = {
    blobGasUsed: '0x9c40',
    blobGasPrice: '0x1',
    l1Fee: '0x5d21dba00',
    l1GasUsed: '0x640',
    l1GasPrice: '0x2540be400',
    l1BlobBaseFee: '0x1',
    l1BaseFeeScalar: '0x8dd',
    l1BlobBaseFeeScalar: '0x101c12',
    operatorFeeScalar: '0x4e7',
    operatorFeeConstant: '0x12',
    daFootprintGasScalar: '0x190',
  }
  expect(parseWith(fields)).toEqual({
    ...read,
    blobGasUsed: 40_000n,
    blobGasPrice: 1n,
    l1Fee: 25_000_000_000n,
    l1GasUsed: 1600n,
    l1GasPrice: 10_000_000_000n,
    l1BlobBaseFee: 1n,
    l1BaseFeeScalar: 2269n,
    l1BlobBaseFeeScalar: 1_055_762n,
    operatorFeeScalar: 1255n,
    operatorFeeConstant: 18n,
    daFootprintGasScalar: 400n,
  })
})

test('a deposit has its nonce and version', () => {
  const deposit = {
    type: '0x7e',
    effectiveGasPrice: '0x0',
    depositNonce: '0x1a2b3c',
    depositReceiptVersion: '0x1',
  }
  expect(parseWith(deposit)).toEqual({
    ...read,
    type: '0x7e',
    effectiveGasPrice: 0n,
    depositNonce: 1_715_004n,
    depositReceiptVersion: 1n,
  })
})

test('a fee scalar with a fraction, as before Ecotone, stays as it came', () => {
  expect(parseWith({ l1FeeScalar: '0.684' })).toEqual({
    ...read,
    l1FeeScalar: '0.684',
  })
})

test('a block time written as a JSON number is tolerated', () => {
  expect(parseWith({ blockTimestamp: 1_795_000_000 })).toEqual({
    ...read,
    blockTimestamp: 1_795_000_000n,
  })
})

test('optional quantities that are null are absent', () => {
  const nulls = { blobGasPrice: null, depositNonce: null, l1Fee: null }
  expect(Object.keys(parseWith(nulls)).sort()).toEqual(Object.keys(read).sort())
})

test.each(['type', 'effectiveGasPrice', 'logsBloom'])(
  'a receipt may lack %s, as those of older nodes do: no proof needs it',
  (name) => {
    for (const missing of [undefined, null])
      expect(parseWith({ [name]: missing })).toEqual({
        ...read,
        [name]: undefined,
      })
  },
)

test('members nobody knows stay untouched', () => {
  const members = {
    gasUsedForL1: '0x2a',
    feeStats: { l1: ['0x1'] },
    flag: null,
  }
  expect(parseWith(members)).toEqual({ ...read, ...members })
})

test.each([
  ['0x1', 'success'],
  ['0x0', 'reverted'],
  [1, 'success'],
  [0, 'reverted'],
])('status %j means %s', (status, meaning) => {
  expect(parseWith({ status }).status).toBe(meaning)
})

test('a receipt older than Byzantium has a root and no status', () => {
  const old = { status: undefined, root: blockHash }
  expect(parseWith(old)).toEqual({
    ...read,
    status: undefined,
    root: blockHash,
  })
})

test('a created contract has an address, in lower case, and no recipient', () => {
  const contractAddress = '0x5FbDB2315678afecb367f032d93F642f64180aa3'
  expect(parseWith({ to: null, contractAddress })).toEqual({
    ...read,
    to: null,
    contractAddress: '0x5fbdb2315678afecb367f032d93f642f64180aa3',
  })
})

test.each([[zeroHash], [null], [undefined]])(
  'block hash %s marks a pre-confirmed receipt and is not passed on',
  (hash) => {
    const pending = { ...log, blockHash: hash }
    const receipt = parseWith({ blockHash: hash, logs: [pending] })
    expect(receipt).toEqual({
      ...read,
      blockHash: undefined,
      preconfirmed: true,
      logs: [{ ...read.logs[0], blockHash: undefined, preconfirmed: true }],
    })
  },
)

test.each<[string, object]>([
  ['holds a malformed gasUsed', { gasUsed: '50000' }],
  ['holds a malformed gasUsed', { gasUsed: -1 }],
  ['holds a malformed gasUsed', { gasUsed: 2 ** 53 }],
  ['holds a malformed gasUsed', { gasUsed: '0x' }],
  ['holds a malformed l1Fee', { l1Fee: {} }],
  ['holds a malformed l1Fee', { l1Fee: '0.5' }],
  ['holds a malformed daFootprintGasScalar', { daFootprintGasScalar: true }],
  ['holds no blockNumber', { blockNumber: null }],
  ['holds no gasUsed', { gasUsed: undefined }],
  ['holds no cumulativeGasUsed', { cumulativeGasUsed: undefined }],
  ['holds no transactionHash', { transactionHash: undefined }],
  ['holds a malformed transactionHash', { transactionHash: '0x12' }],
  ['holds no transactionIndex', { transactionIndex: undefined }],
  ['holds a malformed transactionIndex', { transactionIndex: 'two' }],
  ['holds a malformed blockHash', { blockHash: '0x12' }],
  ['holds no from', { from: undefined }],
  ['holds a malformed to', { to: '0x12' }],
  ['holds a malformed contractAddress', { contractAddress: 7 }],
  ['holds a malformed status', { status: '0x2' }],
  ['holds a malformed status', { status: 'ok' }],
  ['holds a malformed type', { type: 2 }],
  ['holds a malformed logsBloom', { logsBloom: 'none' }],
  ['holds no logs', { logs: undefined }],
  ['holds no logs', { logs: {} }],
  ['holds a malformed log', { logs: [{ ...log, topics: ['0x1'] }] }],
  ['holds a malformed log', { logs: [null] }],
  ['holds a malformed quantity', { logs: [{ ...log, logIndex: 'x' }] }],
])('a receipt that %s is an error that says so: %j', (problem, changes) => {
  expect(() => parseWith(changes)).toThrow(
    expect.objectContaining({
      name: 'NodeAnswerError',
      details: expect.objectContaining({ method, problem }),
    }),
  )
})

test.each([[null], [undefined], ['0x1'], [7], [[]]])(
  'an answer of %j holds no receipt',
  (answer) => {
    expect(() => parseRpcReceipt(answer, method)).toThrow('holds no receipt')
  },
)
