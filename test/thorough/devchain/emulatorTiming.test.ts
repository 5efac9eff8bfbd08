import { execFile } from 'node:child_process'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createPublicClient, type Hex, http, zeroHash } from 'viem'
import { afterAll, expect, test, vi } from 'vitest'
import { startDevChain } from '../../../src/devchain/index.js'
import {
  ask,
  freshAddress,
  type Json,
  listen,
  post,
  transfer,
} from '../../chain/support/emulated.js'

/** Slow machines take a while to get there. */
const patience = { timeout: 60_000 }

const startedAt = Date.now() / 1000
const chain = await startDevChain({ preconfirmations: 'flashblocks' })
const { payer } = chain.clients
afterAll(() => chain.stop())

async function sign(nonceOffset = 0): Promise<Hex> {
  const to = freshAddress()
  const request = await payer.prepareTransactionRequest({ to, value: 1n })
  const nonce = request.nonce + nonceOffset
  return payer.signTransaction({ ...request, nonce })
}

test('sending and waiting takes a part of a tick on average', async () => {
  const waits: number[] = []
  for (let at = 0; at < 12; at++) {
    const raw = await sign()
    // Apart from one another, so that they meet ticks at different moments.
    await new Promise((resolve) => setTimeout(resolve, at * 17))
    const start = performance.now()
    const { result } = await post(
      chain.urls.http,
      'eth_sendRawTransactionSync',
      [raw],
    )
    waits.push(performance.now() - start)
    expect((result as Json).status).toBe('0x1')
  }
  const mean = waits.reduce((sum, ms) => sum + ms) / waits.length
  process.stdout.write(`sync send, mean of 12: ${mean.toFixed(0)} ms\n`)
  expect(mean).toBeGreaterThan(40)
})

test('blocks come every two seconds, each pre-confirmed before', async () => {
  const heads = await listen(chain, 'newHeads')
  const hash = await transfer(chain)
  const receipt = () => ask(chain, 'eth_getTransactionReceipt', hash)
  await vi.waitFor(async () => expect(await receipt()).not.toBeNull(), patience)
  const early = await receipt()
  await vi.waitFor(
    async () => expect((await receipt()).blockHash).not.toBe(zeroHash),
    patience,
  )
  await vi.waitFor(() => expect(heads.seen.length).toBeGreaterThan(1), patience)
  await heads.stop()
  expect((await receipt()).blockNumber).toBe(early.blockNumber)
  const [one, two] = heads.seen.map(({ timestamp }) => Number(timestamp))
  // A slow machine leaves a place out; it never puts a block beside one.
  const step = Number(two) - Number(one)
  expect(step).toBeGreaterThan(0)
  expect(step % 2).toBe(0)
  expect(Number(two)).toBeGreaterThan(startedAt)
  expect(Number(two)).toBeLessThan(Date.now() / 1000 + 4)
})

test('an answer that does not come in time is code 4 with the hash', async () => {
  const raw = await sign(5)
  const method = 'eth_sendRawTransactionSync'
  const { error } = await post(chain.urls.http, method, [raw, 50])
  expect(error).toMatchObject({ code: 4, data: expect.stringMatching(/^0x/) })
})

test('a wait above six seconds is refused', async () => {
  const raw = await sign()
  const method = 'eth_sendRawTransactionSync'
  const { error } = await post(chain.urls.http, method, [raw, 6_001])
  expect(error).toEqual({
    code: -32602,
    message: 'time out too long, timeout: 6001 ms, max: 6000 ms',
  })
})

test('nothing is seen of the blocks that are tried out', async () => {
  const client = createPublicClient({
    transport: http(chain.urls.http),
    cacheTime: 0,
  })
  const numbers: number[] = []
  const first = Number(await client.getBlockNumber())
  // Often, and until a block was sealed meanwhile.
  while (numbers.length < 100 || numbers.at(-1) === first) {
    const sending = numbers.length % 20 === 0 ? transfer(chain) : undefined
    const [number, block] = await Promise.all([
      client.getBlockNumber(),
      client.getBlock(),
    ])
    await sending
    numbers.push(Number(number))
    const same = await client.getBlock({ blockNumber: block.number })
    expect(same.hash).toBe(block.hash)
  }
  expect(numbers).toEqual([...numbers].sort((a, b) => a - b))
})

test('a stopped chain leaves nothing behind', async () => {
  const path = (name: string) =>
    fileURLToPath(new URL(`../../../src/${name}/index.ts`, import.meta.url))
  const script = `
    import { createPublicClient, webSocket } from 'viem'
    import { startDevChain } from '${path('devchain')}'
    for (const preconfirmations of ['flashblocks', 'fastBlocks', 'none']) {
      /** Slow machines take a while to get there. */
const patience = { timeout: 60_000 }

const startedAt = Date.now() / 1000
const chain = await startDevChain({ preconfirmations, policies: {} })
      // viem's own timer would outlive the connection.
      const options = { reconnect: false, keepAlive: false }
      const transport = webSocket(chain.urls.webSocket, options)
      const client = createPublicClient({ transport })
      const onData = () => undefined
      await client.transport.subscribe({ params: ['newHeads'], onData })
      await chain.stop()
      await chain.stop()
    }
    console.log(Date.now())`
  const args = ['--import', 'tsx', '--input-type=module', '--eval', script]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  // With a timer, a socket or a process left, it would not end by itself.
  expect(Number(stdout)).toBeGreaterThan(0)
})
