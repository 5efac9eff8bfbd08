import { createPublicClient, webSocket, zeroHash } from 'viem'
import { afterAll, afterEach, expect, test, vi } from 'vitest'
import { startDevChain } from '../../../src/devchain/index.js'
import {
  ask,
  freshAddress,
  type Json,
  listen,
  transfer,
} from '../support/emulated.js'

const chain = await startDevChain({
  preconfirmations: 'flashblocks',
  tick: 0,
  blockTime: 0,
})
const { preconfirmations: control, token } = chain
const hashes = (seen: Json[]) => seen.map((log) => log.transactionHash)
const latest = () => ask(chain, 'eth_getBlockByNumber', 'latest', false)

afterAll(() => chain.stop())
afterEach(async () => {
  chain.setPolicies({})
  await control.tick()
  await control.seal()
})

test('pendingLogs delivers the newest tick only, and no seal', async () => {
  const { seen, stop } = await listen(chain, 'pendingLogs', { address: token })
  const first = await transfer(chain)
  await control.tick()
  const second = await transfer(chain)
  await control.tick()
  await control.tick()
  await control.seal()
  await stop()
  expect(hashes(seen)).toEqual([first, second])
  expect(seen[1]).toMatchObject({
    blockHash: zeroHash,
    logIndex: '0x1',
    removed: false,
  })
})

test('pendingLogs without a filter matches all, with one only what fits', async () => {
  const filter = { address: freshAddress() }
  const none = await listen(chain, 'pendingLogs', filter)
  const all = await listen(chain, 'pendingLogs')
  const hash = await transfer(chain)
  await control.tick()
  await Promise.all([none.stop(), all.stop()])
  expect([none.seen, hashes(all.seen)]).toEqual([[], [hash]])
})

test('logs and newHeads speak of sealed blocks only', async () => {
  const logs = await listen(chain, 'logs', { address: token })
  const heads = await listen(chain, 'newHeads')
  const hash = await transfer(chain)
  await control.tick()
  await Promise.all([logs.flush(), heads.flush()])
  expect([logs.seen, heads.seen]).toEqual([[], []])
  await control.seal()
  await Promise.all([logs.stop(), heads.stop()])
  const { number, timestamp, hash: blockHash } = await latest()
  expect(heads.seen).toMatchObject([{ number, timestamp, hash: blockHash }])
  expect(heads.seen[0]).not.toHaveProperty('transactions')
  expect(logs.seen).toMatchObject([
    { transactionHash: hash, blockHash, blockTimestamp: timestamp },
  ])
})

test('newFlashblocks repeats the growing block', async () => {
  const { seen, stop } = await listen(chain, 'newFlashblocks')
  const first = await transfer(chain)
  await control.tick()
  const second = await transfer(chain)
  await control.tick()
  await stop()
  const number = `0x${(Number((await latest()).number) + 1).toString(16)}`
  expect(seen).toMatchObject([
    { number, hash: zeroHash, transactions: [{ hash: first }] },
    {
      number,
      hash: zeroHash,
      transactions: [{ hash: first }, { hash: second }],
    },
  ])
})

test('newFlashblockTransactions gives hashes, or all there is to know', async () => {
  const kind = 'newFlashblockTransactions'
  const short = await listen(chain, kind)
  const full = await listen(chain, kind, true)
  const other = await listen(chain, kind, { address: freshAddress() })
  const hash = await transfer(chain)
  await control.tick()
  await Promise.all([short.stop(), full.stop(), other.stop()])
  expect([short.seen, other.seen]).toEqual([[hash], []])
  const { logs } = await ask(chain, 'eth_getTransactionReceipt', hash)
  expect(full.seen).toMatchObject([
    { hash, blockHash: null, status: '0x1', logs: expect.any(Array) },
  ])
  expect(full.seen[0]?.logs).toEqual(logs)
})

test('a reorg sends the logs that are gone, the newest block first', async () => {
  const gone: unknown[] = []
  for (let block = 0; block < 2; block++) {
    gone.unshift(await transfer(chain))
    await control.tick()
    await control.seal()
  }
  const logs = await listen(chain, 'logs', { address: token })
  const heads = await listen(chain, 'newHeads')
  const filter = { fromBlock: '0x0', toBlock: 'latest', address: token }
  const all = await ask(chain, 'eth_getLogs', filter)
  const old = (all as unknown as Json[]).slice(-2).reverse()
  await chain.reorg({ depth: 2 })
  await Promise.all([logs.stop(), heads.stop()])
  expect(hashes(old)).toEqual(gone)
  expect(logs.seen).toEqual(old.map((log) => ({ ...log, removed: true })))
  expect(heads.seen).toHaveLength(2)
  expect(heads.seen.at(-1)?.hash).toBe((await latest()).hash)
})

test('a slow consumer keeps the newest 20 deltas and loses the others', async () => {
  const { seen, flush, stop } = await listen(chain, 'pendingLogs')
  const sent: unknown[] = []
  await control.slowConsumers()
  for (let tick = 0; tick < 23; tick++) {
    sent.push(await transfer(chain))
    await control.tick()
  }
  await flush()
  expect(seen).toEqual([])
  await control.slowConsumers(false)
  await stop()
  expect(hashes(seen)).toEqual(sent.slice(-20))
})

test('a duplicate delta brings the same logs again', async () => {
  const { seen, stop } = await listen(chain, 'pendingLogs')
  const hash = await transfer(chain)
  await control.tick()
  await control.duplicateDelta()
  await stop()
  expect(hashes(seen)).toEqual([hash, hash])
  expect(seen[1]).toEqual(seen[0])
})

test('a phantom log is pushed and never sealed', async () => {
  const pending = await listen(chain, 'pendingLogs')
  const sealed = await listen(chain, 'logs')
  await transfer(chain)
  await control.tick()
  await control.phantomLog({ address: token, topics: [zeroHash] })
  await control.seal()
  await Promise.all([pending.stop(), sealed.stop()])
  expect(pending.seen.map(({ logIndex }) => logIndex)).toEqual(['0x0', '0x1'])
  expect(sealed.seen).toHaveLength(1)
})

test('without a snapshot, or with a stalled one, nothing is pushed', async () => {
  const { seen, stop } = await listen(chain, 'pendingLogs')
  await control.loseSnapshot()
  await transfer(chain)
  await control.tick()
  await control.seal()
  await control.stall()
  await transfer(chain)
  await control.tick()
  await control.stall(false)
  await stop()
  expect(seen).toEqual([])
})

test('a socket answers plain requests, batches and unsubscribes', async () => {
  const transport = webSocket(chain.urls.webSocket, { reconnect: false })
  const client = createPublicClient({ transport })
  const number = await client.getBlockNumber()
  const id = await client.request({
    method: 'eth_subscribe' as 'eth_blockNumber',
    params: ['newHeads'] as never,
  })
  const leave = () =>
    client.request({
      method: 'eth_unsubscribe' as 'eth_blockNumber',
      params: [id] as never,
    })
  expect(number).toBe(BigInt(String((await latest()).number)))
  expect([await leave(), await leave()]).toEqual([true, false])
  ;(await client.transport.getRpcClient()).close()
})

test('an unknown subscription is refused', async () => {
  const asked = listen(chain, 'newThings')
  await expect(asked).rejects.toMatchObject({ code: -32602 })
})

test('Flashblocks subscriptions can be refused by policy', async () => {
  chain.setPolicies({ flashblockSubscriptions: 'refused' })
  const asked = listen(chain, 'pendingLogs')
  await expect(asked).rejects.toMatchObject({ code: -32602 })
  const { stop } = await listen(chain, 'logs')
  await stop()
})

test('a closed connection ends its subscriptions', async () => {
  const { seen, stop } = await listen(chain, 'newHeads')
  await control.seal()
  await vi.waitFor(() => expect(seen).toHaveLength(1), 60_000)
  const other = await listen(chain, 'newHeads')
  await stop()
  await control.seal()
  await other.stop()
  expect([seen, other.seen].map((list) => list.length)).toEqual([1, 1])
})
