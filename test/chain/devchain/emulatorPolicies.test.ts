import {
  createPublicClient,
  numberToHex,
  webSocket as viemWebSocket,
} from 'viem'
import { afterAll, afterEach, expect, test, vi } from 'vitest'
import {
  type ProviderWordingName,
  providerWordings,
  startDevChain,
} from '../../../src/devchain/index.js'
import { fundedAccount } from '../support/desk.js'
import { ask, type Json, listen, post, transfer } from '../support/emulated.js'

const plain = await startDevChain({ policies: {}, blockTime: 0 })
const flash = await startDevChain({
  preconfirmations: 'flashblocks',
  tick: 0,
  blockTime: 0,
})
for (const chain of [plain, flash]) {
  for (let at = 0; at < 3; at++) {
    await transfer(chain)
    await transfer(chain)
    await flash.preconfirmations.tick()
    await ask(chain, 'anvil_mine', '0x1')
  }
}
const chains = [
  ['a plain chain', plain],
  ['a chain with Flashblocks', flash],
] as const

afterAll(async () => {
  await plain.stop()
  await flash.stop()
})
afterEach(() => {
  for (const [, chain] of chains) chain.setPolicies({})
})

const heads = new Map<object, number>()
for (const [, chain] of chains)
  heads.set(chain, Number(await ask(chain, 'eth_blockNumber')))

/** The newest blocks, this many. */
function range(chain: object, blocks: number): Json {
  const to = heads.get(chain) ?? 0
  const from = numberToHex(to - blocks + 1)
  return { fromBlock: from, toBlock: numberToHex(to) }
}

const names = Object.keys(providerWordings) as ProviderWordingName[]
const limits = names.filter((name) =>
  /range|results|timeout/.test(providerWordings[name].kind),
)

test.each(limits)(
  '%s is served with its numbers filled in',
  async (wording) => {
    plain.setPolicies({ maxLogRange: { blocks: 2, wording } })
    const filter = range(plain, 5)
    const { url, method } = { url: plain.urls.http, method: 'eth_getLogs' }
    const refused = await post(url, method, [filter])
    const { code, status = 200 } = providerWordings[wording]
    expect(refused).toMatchObject({ status, error: { code } })
    expect(refused.error?.message).not.toMatch(/[{}]/)
    expect(await post(url, method, [range(plain, 2)])).toMatchObject({
      status: 200,
      result: expect.any(Array),
    })
  },
)

test.each([
  ['publicBase', 2_000, 'eth_getLogs is limited to a 2,000 range'],
  ['quickNodeNewer', 10_000, /limited to a 10,000 blocks range$/],
  ['merkle', 1_000, 'eth_getLogs range is too large, max is 1k blocks'],
  ['infuraRange', 10, 'range 20 exceeds limit of 10'],
  ['alchemyFree', 10, /should work: \[0x1, 0xa\]/],
  ['coinbase', 1_000, 'please limit the query to at most 1000 blocks'],
  ['drpc', 10_000, 'ranges over 10000 blocks are not supported on free plan'],
] as const)('%s counts as the provider does', async (wording, blocks, text) => {
  plain.setPolicies({ maxLogRange: { blocks, wording } })
  const filter = { fromBlock: '0x1', toBlock: numberToHex(blocks * 2) }
  const { error } = await post(plain.urls.http, 'eth_getLogs', [filter])
  expect(error?.message).toMatch(text)
})

test.each(chains)('tags count in a range on %s', async (_, chain) => {
  chain.setPolicies({ maxLogRange: { blocks: 3 } })
  const ask = (filter: Json) => post(chain.urls.http, 'eth_getLogs', [filter])
  const limited = { error: { code: -32614 } }
  const fromBlock = 'earliest'
  expect(await ask({ fromBlock, toBlock: 'latest' })).toMatchObject(limited)
  expect(await ask({ fromBlock, toBlock: 'pending' })).toMatchObject(limited)
  expect(await ask({ fromBlock })).toMatchObject(limited)
  for (const free of [{}, { fromBlock: 'pending', toBlock: 'pending' }])
    expect((await ask(free)).error).toBeUndefined()
})

test.each(chains)('too many results are refused on %s', async (_, chain) => {
  const wording = 'infuraResults'
  chain.setPolicies({ maxLogResults: { logs: 2, wording } })
  const find = (blocks: number) => {
    const filter = { ...range(chain, blocks), address: chain.token }
    return post(chain.urls.http, 'eth_getLogs', [filter])
  }
  const { error } = await find(5)
  expect(error).toMatchObject({
    code: -32005,
    message: expect.stringMatching(
      /^query returned more than 2 results. Try with this block range \[0x/,
    ),
  })
  const [, from, to] = /\[(0x\w+), (0x\w+)\]/.exec(error?.message ?? '') ?? []
  const suggested = { fromBlock: from, toBlock: to, address: chain.token }
  const answer = await post(chain.urls.http, 'eth_getLogs', [suggested])
  expect((answer.result as Json[]).length).toBeGreaterThan(0)
})

test('a single block is never refused for its results', async () => {
  plain.setPolicies({ maxLogResults: { logs: 1 } })
  await ask(plain, 'evm_setAutomine', false)
  await transfer(plain)
  await transfer(plain)
  await ask(plain, 'anvil_mine', '0x1')
  await ask(plain, 'evm_setAutomine', true)
  const newest = { fromBlock: 'latest', address: plain.token }
  const { result } = await post(plain.urls.http, 'eth_getLogs', [newest])
  expect(result).toHaveLength(2)
})

test('words of any kind can be served', async () => {
  const wording = { code: -39_999, status: 422, text: 'no, {limit} at most' }
  plain.setPolicies({ maxLogRange: { blocks: 2, wording } })
  const { http } = plain.urls
  expect(await post(http, 'eth_getLogs', [range(plain, 4)])).toMatchObject({
    status: 422,
    error: { code: -39_999, message: 'no, 2 at most' },
  })
})

test.each(chains)('block receipts are forbidden on %s', async (_, chain) => {
  chain.setPolicies({ blockReceipts: 'forbidden' })
  const { http, webSocket } = chain.urls
  const refused = await post(http, 'eth_getBlockReceipts', ['latest'])
  expect(refused).toMatchObject({ status: 403, text: 'Forbidden' })
  expect((await post(http, 'eth_blockNumber')).status).toBe(200)
  const transport = viemWebSocket(webSocket, { reconnect: false })
  const client = createPublicClient({ transport })
  const { request } = client
  const receipts = { method: 'eth_getBlockReceipts', params: ['latest'] }
  const asked = request(receipts as never, { retryCount: 0 })
  await expect(asked).rejects.toMatchObject({ code: 403 })
  ;(await client.transport.getRpcClient()).close()
})

test('every n-th request is over the rate limit', async () => {
  plain.setPolicies({ rateLimit: { every: 3, retryAfter: 2 } })
  const ask = () => post(plain.urls.http, 'eth_chainId')
  const answers = [await ask(), await ask(), await ask(), await ask()]
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 429, 200])
  expect(answers[2]).toMatchObject({
    retryAfter: '2',
    error: { code: -32016, message: 'over rate limit' },
  })
})

test('latency delays every request', async () => {
  plain.setPolicies({ latency: 80 })
  const start = performance.now()
  await post(plain.urls.http, 'eth_chainId')
  expect(performance.now() - start).toBeGreaterThanOrEqual(79)
})

test('batches work, and are refused by policy', async () => {
  const calls = ['eth_chainId', 'eth_nothing', 'eth_blockNumber'].map(
    (method, id) => ({ jsonrpc: '2.0', id, method, params: [] }),
  )
  const send = async () => {
    const body = JSON.stringify(calls)
    const response = await fetch(flash.urls.http, { method: 'POST', body })
    return [response.status, await response.json()] as const
  }
  const number = await ask(flash, 'eth_blockNumber')
  expect(await send()).toMatchObject([
    200,
    [
      { id: 0, result: '0x7a69' },
      { id: 1, error: { code: -32601 } },
      { id: 2, result: number },
    ],
  ])
  flash.setPolicies({ batches: 'refused' })
  expect(await send()).toMatchObject([400, { error: { code: -32600 } }])
})

test('what is no request is answered as JSON-RPC wants it', async () => {
  const send = async (body: string) => {
    const response = await fetch(flash.urls.http, { method: 'POST', body })
    return response.json()
  }
  const parse = { id: null, error: { code: -32700 } }
  expect(await send('{"id":')).toMatchObject(parse)
  expect(await send('[]')).toMatchObject(parse)
  expect(await send('{"id":4}')).toMatchObject({
    id: 4,
    error: { code: -32600 },
  })
})

test('a page of any origin may ask', async () => {
  const { headers } = await fetch(flash.urls.http, { method: 'OPTIONS' })
  expect(headers.get('access-control-allow-origin')).toBe('*')
  expect((await fetch(flash.urls.http)).status).toBe(405)
})

test('subscriptions of a plain chain pass through', async () => {
  const { seen, stop } = await listen(plain, 'logs', { address: plain.token })
  const hash = await transfer(plain)
  const expected = [{ transactionHash: hash, removed: false }]
  await vi.waitFor(() => expect(seen).toMatchObject(expected), 60_000)
  await stop()
  const refused = listen(plain, 'pendingLogs')
  await expect(refused).rejects.toMatchObject({ code: -32602 })
})

test.each(chains)(
  'a sender has no more than its places in the pool of %s',
  async (_, chain) => {
    await chain.clients.test.setAutomine(false).catch(() => undefined)
    chain.setPolicies({ maxPending: { transactions: 3 } })
    const account = await fundedAccount(chain)
    const send = async (nonce: number) => {
      const raw = await account.signTransaction({
        chainId: 31337,
        to: account.address,
        nonce,
        gas: 21_000n,
        maxFeePerGas: 10n ** 10n,
        maxPriorityFeePerGas: 0n,
      })
      const { error } = await post(chain.urls.http, method, [raw])
      return error
    }
    const method = 'eth_sendRawTransaction'
    const full = { code: -32003, message: 'txpool is full' }
    const answers = [await send(0), await send(1), await send(2), await send(3)]
    expect(answers).toEqual([undefined, undefined, undefined, full])
    await ask(chain, 'anvil_mine', '0x1')
    expect(await send(3)).toBeUndefined()

    const text = 'in-flight transaction limit reached for delegated accounts'
    chain.setPolicies({ maxPending: { transactions: 1, code: -32000, text } })
    expect(await send(4)).toEqual({ code: -32000, message: text })
    await ask(chain, 'anvil_mine', '0x1')
    await chain.clients.test.setAutomine(true).catch(() => undefined)
  },
)

test('what controls the chain is spared every policy', async () => {
  const to = flash.accounts[5]?.address ?? '0x'
  flash.setPolicies({ rateLimit: { every: 1 } })
  await flash.mint({ to, value: 1n })
  expect((await post(flash.urls.http, 'eth_chainId')).status).toBe(429)
})

test('a chain says which controls it was not started for', async () => {
  const chain = await startDevChain({ blockTime: 0 })
  const setPolicies = async () => chain.setPolicies({})
  const calls = [setPolicies(), chain.preconfirmations.tick()]
  const reasons = await Promise.allSettled(calls)
  await chain.stop()
  expect(reasons.map((it) => 'reason' in it && it.reason.message)).toEqual([
    'setPolicies needs a chain started with policies.',
    "tick needs a chain started with preconfirmations: 'flashblocks'.",
  ])
})

test('a tick that is no time is refused', async () => {
  const tick = Number.NaN
  const started = startDevChain({ preconfirmations: 'flashblocks', tick })
  await expect(started).rejects.toThrow('tick must be milliseconds')
})
