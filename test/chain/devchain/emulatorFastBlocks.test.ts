import { zeroHash } from 'viem'
import { afterAll, expect, test, vi } from 'vitest'
import { startDevChain } from '../../../src/devchain/index.js'
import {
  ask,
  askList,
  freshAddress,
  type Json,
  listen,
  post,
  transfer,
} from '../support/emulated.js'

/** Slow machines take a while to get there. */
const patience = { timeout: 60_000 }

const chain = await startDevChain({ preconfirmations: 'fastBlocks' })
const still = await startDevChain({
  preconfirmations: 'fastBlocks',
  blockTime: 0,
})
const { token } = chain
const payer = chain.clients.payer.account.address
afterAll(async () => {
  await chain.stop()
  await still.stop()
})

test('a canonical block comes every 200 ms, five to a second', async () => {
  const { seen, stop } = await listen(chain, 'newHeads')
  const stepsOf = () => {
    const ms = seen.map(({ timestampMs }) => Number(timestampMs))
    return ms.slice(1).map((at, index) => at - Number(ms[index]))
  }
  await vi.waitFor(() => {
    expect(seen.length).toBeGreaterThanOrEqual(10)
    expect(stepsOf()).toContain(200)
  }, patience)
  await stop()
  const numbers = seen.map(({ number }) => Number(number))
  const [first = 0] = numbers
  expect(numbers).toEqual(numbers.map((_, at) => first + at))
  const perSecond = new Map<unknown, number>()
  for (const { timestamp } of seen)
    perSecond.set(timestamp, (perSecond.get(timestamp) ?? 0) + 1)
  expect(Math.max(...perSecond.values())).toBeLessThanOrEqual(5)
  // A slow machine leaves places out; it never puts a block beside one.
  const steps = stepsOf()
  expect(steps.filter((step) => step <= 0 || step % 200 !== 0)).toEqual([])
})

test('milliseconds extend blocks, transactions and logs, not receipts', async () => {
  const hash = await transfer(chain)
  const receiptOf = () => ask(chain, 'eth_getTransactionReceipt', hash)
  await vi.waitFor(
    async () => expect(await receiptOf()).not.toBeNull(),
    patience,
  )
  const receipt = await receiptOf()
  const { blockNumber, blockHash } = receipt
  const block = await ask(chain, 'eth_getBlockByNumber', blockNumber, true)
  const { timestampMs } = block
  expect(Math.floor(Number(timestampMs) / 1000)).toBe(Number(block.timestamp))
  expect(blockHash).not.toBe(zeroHash)
  expect(receipt).not.toHaveProperty('blockTimestampMs')
  const extended = { blockTimestampMs: timestampMs }
  expect(receipt.logs).toMatchObject([extended])
  expect(block.transactions).toMatchObject([extended])
  const logs = await askList(chain, 'eth_getLogs', { blockHash })
  expect(logs).toMatchObject([extended])
  const transaction = await ask(chain, 'eth_getTransactionByHash', hash)
  expect(transaction).toMatchObject(extended)
})

test('pending answers like latest, save for the count', async () => {
  const to = freshAddress()
  const hash = await transfer(still, to)
  const same = async (method: string, ...before: unknown[]) =>
    [
      await ask(still, method, ...before, 'pending'),
      await ask(still, method, ...before, 'latest'),
    ] as const
  for (const answers of [
    await same('eth_getBalance', payer),
    await same('eth_getBlockReceipts'),
    await same('eth_getBlockTransactionCountByNumber'),
    await same('eth_call', {
      to: token,
      data: `0x70a08231${to.slice(2).padStart(64, '0')}`,
    }),
  ])
    expect(answers[0]).toEqual(answers[1])
  const block = (tag: string) => ask(still, 'eth_getBlockByNumber', tag, false)
  expect(await block('pending')).toEqual(await block('latest'))
  const [pending, latest] = await same('eth_getTransactionCount', payer)
  expect(Number(pending)).toBe(Number(latest) + 1)
  const at = (block: string) =>
    askList(still, 'eth_getLogs', { fromBlock: block, toBlock: block })
  expect(await at('pending')).toEqual(await at('latest'))
  expect(await ask(still, 'eth_getTransactionReceipt', hash)).toBeNull()
  await ask(still, 'anvil_mine', '0x1')
  expect(await at('pending')).toMatchObject([{ transactionHash: hash }])
})

test('sending synchronously is not known here', async () => {
  const method = 'eth_sendRawTransactionSync'
  const { error } = await post(chain.urls.http, method, ['0x00'])
  expect(error).toEqual({ code: -32601, message: 'method not found' })
})

test('Flashblocks subscriptions are taken and stay silent', async () => {
  await ask(still, 'anvil_mine', '0x1')
  const pending = await listen(still, 'pendingLogs')
  const blocks = await listen(still, 'newFlashblocks')
  const logs = await listen(still, 'logs', { address: token })
  const hash = await transfer(still)
  await ask(still, 'anvil_mine', '0x1')
  await Promise.all([pending.stop(), blocks.stop(), logs.stop()])
  expect([pending.seen, blocks.seen]).toEqual([[], []])
  expect(logs.seen).toMatchObject([
    { transactionHash: hash, blockTimestampMs: expect.stringMatching(/^0x/) },
  ])
})

test('a reorg sends removed logs, and the transactions come back', async () => {
  const hash = await transfer(still)
  await ask(still, 'anvil_mine', '0x2')
  const { seen, stop } = await listen(still, 'logs', { address: token })
  await still.reorg({ depth: 2 })
  await ask(still, 'anvil_mine', '0x1')
  await stop()
  expect(seen.map(({ removed }: Json) => removed)).toEqual([true, false])
  expect(seen).toMatchObject([
    { transactionHash: hash },
    { transactionHash: hash },
  ])
  expect(seen[0]?.blockHash).not.toBe(seen[1]?.blockHash)
})
