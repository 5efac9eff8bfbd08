import { InvalidFieldError } from 'countersign'
import {
  createReadClient,
  decodeTokenLog,
  type LogEvent,
} from 'countersign/reads'
import { type Address, type Hex, pad, toHex } from 'viem'
import { getBlock } from 'viem/actions'
import { expect, onTestFinished, test } from 'vitest'
import { tryRequest } from '../../../src/chain/rpc/requestNode.js'
import { startEndpoint } from '../support/endpoint.js'
import { chain, client, node, to, token } from '../support/specChain.js'
import {
  addressTopic,
  flash,
  nodeOf,
  reader,
  readerOf,
  signatureHash,
  transfer,
} from '../support/specReads.js'

test('eth_getLogs, params: one filter object', async () => {
  const { client, asked } = nodeOf({ eth_getLogs: [] })
  const filter = { address: token, topics: [signatureHash, null, [pad(to)]] }
  await client.getLogs(filter)
  const range = { fromBlock: 'latest', toBlock: 'latest' }
  expect(asked).toEqual([
    { method: 'eth_getLogs', params: [{ ...filter, ...range }] },
  ])
})

test('eth_getLogs, filter: at least one criterion is provided', async () => {
  const { client, asked } = nodeOf()
  await expect(client.getLogs({})).rejects.toThrow(InvalidFieldError)
  expect(asked).toEqual([])
})

test('eth_getLogs, fromBlock and toBlock: latest when absent', async () => {
  const { topics, receiptOf } = await transfer()
  await receiptOf()
  expect((await reader.getLogs({ topics })).length).toBe(1)
  await node.mine({ blocks: 1 })
  expect(await reader.getLogs({ topics })).toEqual([])
})

test('eth_getLogs, fromBlock: a number or a tag', async () => {
  const { topics, receiptOf } = await transfer()
  const { blockNumber } = await receiptOf()
  await node.mine({ blocks: 1 })
  const count = async (fromBlock: bigint | Hex | 'earliest' | 'latest') =>
    (await reader.getLogs({ topics, fromBlock })).length
  expect(await count(blockNumber)).toBe(1)
  expect(await count(toHex(blockNumber))).toBe(1)
  expect(await count('earliest')).toBe(1)
  expect(await count(blockNumber + 1n)).toBe(0)
  expect(await count('latest')).toBe(0)
})

test('eth_getLogs, toBlock: a number or a tag', async () => {
  const { topics, receiptOf } = await transfer()
  const { blockNumber } = await receiptOf()
  const count = async (toBlock: bigint | Hex | 'earliest' | 'latest') =>
    (await reader.getLogs({ topics, fromBlock: 'earliest', toBlock })).length
  expect(await count(blockNumber)).toBe(1)
  expect(await count(toHex(blockNumber))).toBe(1)
  expect(await count('latest')).toBe(1)
  expect(await count(blockNumber - 1n)).toBe(0)
  expect(await count('earliest')).toBe(0)
})

test('eth_getLogs, address: one contract or several', async () => {
  const { topics, receiptOf } = await transfer()
  await receiptOf()
  const count = async (address: Address | Address[]) =>
    (await reader.getLogs({ topics, address })).length
  expect(await count(token)).toBe(1)
  expect(await count([to, token])).toBe(1)
  expect(await count(to)).toBe(0)
})

test('eth_getLogs, topics: by position null, one, or any of several', async () => {
  const { to: receiver, receiptOf } = await transfer()
  const { blockNumber: block } = await receiptOf()
  const other = addressTopic(token)
  const count = async (...topics: (Hex | Hex[] | null)[]) =>
    (await reader.getLogs({ topics, fromBlock: block, toBlock: block })).length
  const mine = addressTopic(receiver)
  expect(await count(null, null, mine)).toBe(1)
  expect(await count(null, null, [other, mine])).toBe(1)
  expect(await count(null, mine)).toBe(0)
  expect(await count(null, null, other)).toBe(0)
})

test('eth_getLogs, topics, position 0: the hash of the event signature', async () => {
  const { receiptOf } = await transfer()
  const { blockNumber: block } = await receiptOf()
  const [log] = await reader.getLogs({
    topics: [signatureHash],
    fromBlock: block,
    toBlock: block,
  })
  expect(log && decodeTokenLog(log)).toMatchObject({
    name: 'Transfer',
    value: 5n,
  })
})

test('eth_getLogs, blockHash: restricts to that block', async () => {
  const { topics, receiptOf } = await transfer()
  const { blockHash, blockNumber } = await receiptOf()
  await node.mine({ blocks: 1 })
  const { hash: next } = await getBlock(client)
  expect(await reader.getLogs({ topics, blockHash })).toMatchObject([
    { blockHash, blockNumber },
  ])
  expect(await reader.getLogs({ topics, blockHash: next })).toEqual([])
})

test('difference, blockHash: a range given beside it is dropped, since nodes refuse the pair', async () => {
  const { topics, receiptOf } = await transfer()
  const { blockHash } = await receiptOf()
  const range = { fromBlock: 0n, toBlock: 0n }
  const { url, posts } = await startEndpoint(chain.urls.http)
  const both = { topics, blockHash, ...range }
  expect((await createReadClient({ url }).getLogs(both)).length).toBe(1)
  const raw = { ...both, fromBlock: '0x0', toBlock: '0x0' }
  const { failure } = await tryRequest(client, 'eth_getLogs', [raw])
  expect(failure?.words).toContain('blockHash')
  expect(posts).toMatchObject([{ body: { method: 'eth_getLogs' } }])
  expect(Object(posts[0]?.body).params).toEqual([
    { topics: [null, null, topics[2]?.toLowerCase()], blockHash },
  ])
})

test('eth_getLogs, pending: both ends give the logs of pre-confirmed transactions', async () => {
  const { topics, hash } = await transfer(flash)
  await flash.preconfirmations.tick()
  const filter = { topics, fromBlock: 'pending', toBlock: 'pending' } as const
  expect(await readerOf(flash).getLogs(filter)).toMatchObject([
    { transactionHash: hash, preconfirmed: true, blockHash: undefined },
  ])
  await flash.preconfirmations.seal()
  await flash.preconfirmations.tick()
  expect(await readerOf(flash).getLogs(filter)).toEqual([])
})

test('eth_getLogs, toBlock: up to pending includes the pre-confirmed logs', async () => {
  const { to: receiver, topics, hash } = await transfer(flash)
  await flash.preconfirmations.tick()
  await flash.preconfirmations.seal()
  const next = await transfer(flash, receiver)
  await flash.preconfirmations.tick()
  const filter = { topics, fromBlock: 'earliest', toBlock: 'pending' } as const
  expect(await readerOf(flash).getLogs(filter)).toMatchObject([
    { transactionHash: hash, preconfirmed: false },
    { transactionHash: next.hash, preconfirmed: true },
  ])
  await flash.preconfirmations.seal()
})

test('eth_getLogs, pendingLogs: the stream of the same logs over WebSocket', async () => {
  const watched = new Promise<LogEvent>((onEvent) => {
    const unwatch = readerOf(flash).watchLogs({
      address: flash.token,
      webSocket: flash.urls.webSocket,
      pollingInterval: 3_600_000,
      onEvent,
    })
    onTestFinished(unwatch)
  })
  // Nothing is replayed to those who subscribe late.
  await new Promise((done) => setTimeout(done, 500))
  const { hash } = await transfer(flash)
  await flash.preconfirmations.tick()
  expect(await watched).toMatchObject({
    type: 'preconfirmed',
    log: { transactionHash: hash, blockHash: undefined },
  })
  await flash.preconfirmations.seal()
})

test('log object: every field, typed', async () => {
  const { topics, to: receiver, hash, receiptOf } = await transfer()
  const { blockHash, blockNumber } = await receiptOf()
  const { timestamp } = await getBlock(client)
  const { address } = chain.clients.payer.account
  expect(await reader.getLogs({ topics })).toEqual([
    {
      address: token.toLowerCase(),
      topics: [
        signatureHash,
        addressTopic(address),
        addressTopic(receiver),
      ].map((topic) => topic.toLowerCase()),
      data: pad('0x5'),
      blockNumber,
      blockTimestamp: timestamp,
      transactionHash: hash,
      transactionIndex: 0,
      blockHash,
      logIndex: 0,
      removed: false,
      preconfirmed: false,
    },
  ])
})

const rpcLog = {
  address: token,
  topics: [] as Hex[],
  data: '0x',
  blockNumber: '0x1',
  transactionHash: pad('0x1'),
  transactionIndex: '0x0',
  blockHash: pad('0x2'),
  logIndex: '0x0',
  removed: false,
}

test.each([0, 1, 2, 3, 4])('log object, topics: %d of them', async (count) => {
  const topics = Array.from({ length: count }, () => signatureHash)
  const { client } = nodeOf({ eth_getLogs: [{ ...rpcLog, topics }] })
  expect(await client.getLogs({ address: token })).toMatchObject([{ topics }])
})

test('log object, blockTimestamp: an extension, absent where the node lacks it', async () => {
  const { client } = nodeOf({ eth_getLogs: [rpcLog] })
  const [log] = await client.getLogs({ address: token })
  expect(log).toHaveProperty('blockTimestamp', undefined)
})

test('log object, removed: true if a reorganization removed the log, which getLogs then leaves out', async () => {
  const removed = { ...rpcLog, removed: true }
  const { client } = nodeOf({ eth_getLogs: [removed, rpcLog] })
  const logs = await client.getLogs({ address: token })
  expect(logs.map((log) => log.removed)).toEqual([false])
})
