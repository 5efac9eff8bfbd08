import {
  type DevChain,
  type ProviderWordingName,
  providerWordings,
  startDevChain,
} from 'countersign/devchain'
import {
  createReadClient,
  getLogs,
  type ReadLog,
  streamLogs,
} from 'countersign/reads'
import { createClient, custom, erc20Abi, type Hash, numberToHex } from 'viem'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { seededRandom } from '../../../../src/testing/seededRandom.js'

let plain: DevChain
let chain: DevChain
let head: bigint

beforeAll(async () => {
  plain = await startDevChain({ preconfirmations: 'fastBlocks', blockTime: 0 })
  chain = await startDevChain({
    preconfirmations: 'flashblocks',
    blockTime: 0,
    tick: 0,
  })
  for (let i = 0; i < 12; i++) {
    await plain.mint({ to: plain.accounts[1]?.address ?? '0x', value: 1n })
    await plain.clients.test.mine({ blocks: 4 })
  }
  head = await plain.clients.public.getBlockNumber({ cacheTime: 0 })
})
afterAll(async () => {
  await plain?.stop()
  await chain?.stop()
})
beforeEach(() => {
  plain.setPolicies({})
  chain.setPolicies({})
})

/** A client of the chain that counts its log requests. */
function countingClient({ urls }: DevChain) {
  const { transport, ...rest } = createReadClient({ url: urls.http, retry: 0 })
  const count = { requests: 0 }
  const send = (method: string, params: unknown) => {
    if (method === 'eth_getLogs') count.requests += 1
    return transport.send(method, params)
  }
  return { client: { ...rest, transport: { ...transport, send } }, count }
}

const placeOf = (log: ReadLog) => [
  log.blockNumber,
  log.logIndex,
  log.transactionHash,
]

const wordingNames = Object.keys(providerWordings) as ProviderWordingName[]
const isPassing = ({ kind }: { kind: string }) =>
  kind === 'rateLimit' || kind === 'head'
const limits = wordingNames.filter((name) => !isPassing(providerWordings[name]))
const passing = wordingNames.filter((name) => isPassing(providerWordings[name]))

/** What a policy says is said by the wording, of blocks or of results. */
function refuse(wording: ProviderWordingName): void {
  if (providerWordings[wording].kind === 'results')
    plain.setPolicies({ maxLogResults: { logs: 3, wording } })
  else plain.setPolicies({ maxLogRange: { blocks: 7, wording } })
}

const everything = () => ({
  address: plain.token,
  fromBlock: 0n,
  toBlock: head,
  maxBlockRange: 50n,
})

test.each(limits)('all logs come although the node says %s', async (name) => {
  const { client, count } = countingClient(plain)
  const whole = await getLogs(client, everything())
  refuse(name)
  count.requests = 0
  const logs = await getLogs(client, everything())
  expect(logs.map(placeOf)).toEqual(whole.map(placeOf))
  expect(logs.length).toBeGreaterThan(11)
  expect(count.requests).toBeGreaterThan(2)
  expect(count.requests).toBeLessThan(64)
})

test.each(passing)(
  'all logs come once the node says %s no more',
  async (name) => {
    const { client, count } = countingClient(plain)
    const whole = await getLogs(client, everything())
    refuse(name)
    count.requests = 0
    setTimeout(() => plain.setPolicies({}), 150)
    const logs = await getLogs(client, everything())
    expect(logs.map(placeOf)).toEqual(whole.map(placeOf))
    expect(count.requests).toBeGreaterThan(2)
    expect(count.requests).toBeLessThan(12)
  },
)

test('a node that never stops limiting the rate ends the search', async () => {
  const { client } = countingClient(plain)
  refuse('baseRateLimit')
  await expect(getLogs(client, everything())).rejects.toMatchObject({
    name: 'NodeError',
    retryable: true,
    details: { words: 'over rate limit' },
  })
})

/** Words no provider is known for, with a code and a status of some kind. */
function makeWording(seed: number) {
  const random = seededRandom(seed)
  const pick = <one>(list: readonly [one, ...one[]]): one =>
    list[Math.floor(random() * list.length)] ?? list[0]
  const letter = () => String.fromCharCode(97 + Math.floor(random() * 26))
  const word = () => Array.from({ length: 3 + random() * 6 }, letter).join('')
  return {
    code: pick([-32000, -32005, -32600, -32602, -32603, -32098, 35, 3]),
    status: pick([200, 200, 400, 413, 500, 503]),
    text: Array.from({ length: 2 + random() * 5 }, word).join(' '),
  }
}

const seeds = Array.from({ length: 5 }, (_, i) => i * 8)

test.each(seeds)(
  'all logs come in spite of unknown words, seeds %i and the next 7',
  async (first) => {
    const { client: whole } = countingClient(plain)
    const expected = await getLogs(whole, everything())
    for (let seed = first; seed < first + 8; seed++) {
      const { client, count } = countingClient(plain)
      const wording = makeWording(seed)
      plain.setPolicies({ maxLogRange: { blocks: 7, wording } })
      const logs = await getLogs(client, everything())
      expect(logs.map(placeOf), wording.text).toEqual(expected.map(placeOf))
      expect(count.requests).toBeLessThan(64)
    }
  },
)

test('unknown words about a single block are an error that carries them', async () => {
  const { client } = countingClient(plain)
  const wording = { code: -32000, text: 'the stars are wrong' }
  plain.setPolicies({ maxLogRange: { blocks: 0, wording } })
  await expect(getLogs(client, everything())).rejects.toMatchObject({
    name: 'LogRangeError',
    details: { words: 'the stars are wrong' },
  })
})

function transfer({ clients, token }: DevChain, value: bigint): Promise<Hash> {
  return clients.payer.writeContract({
    address: token,
    abi: erc20Abi,
    functionName: 'transfer',
    args: [clients.merchant.account.address, value],
  })
}

const readPending = () =>
  createReadClient({ url: chain.urls.http }).getLogs({
    address: chain.token,
    fromBlock: 'pending',
    toBlock: 'pending',
  })
const readMixed = (fromBlock: bigint) =>
  createReadClient({ url: chain.urls.http }).getLogs({
    address: chain.token,
    fromBlock,
    toBlock: 'pending',
  })
const newest = () => chain.clients.public.getBlockNumber({ cacheTime: 0 })
const hashesOf = (logs: readonly ReadLog[]) =>
  logs.map((log) => log.transactionHash)

test('a pre-confirmed log is marked, and has no block hash', async () => {
  const hash = await transfer(chain, 1n)
  await chain.preconfirmations.tick()
  const logs = await readPending()
  const block = (await newest()) + 1n
  await chain.preconfirmations.seal()
  expect(logs).toMatchObject([
    { transactionHash: hash, preconfirmed: true, blockNumber: block },
  ])
  expect(logs[0]?.blockHash).toBeUndefined()
})

test('a range up to pending has each log once, sealed ones first', async () => {
  const from = (await newest()) + 1n
  const sealed = await transfer(chain, 2n)
  await chain.preconfirmations.tick()
  await chain.preconfirmations.seal()
  const open = await transfer(chain, 3n)
  await chain.preconfirmations.tick()
  const before = await readMixed(from)
  await chain.preconfirmations.seal()
  const after = await readMixed(from)
  expect(before.map((log) => log.preconfirmed)).toEqual([false, true])
  expect(after.map((log) => log.preconfirmed)).toEqual([false, false])
  expect(hashesOf(before)).toEqual([sealed, open])
  expect(hashesOf(after)).toEqual([sealed, open])
})

test('without a snapshot only sealed logs come', async () => {
  const from = (await newest()) + 1n
  const sealed = await transfer(chain, 4n)
  await chain.preconfirmations.tick()
  await chain.preconfirmations.seal()
  await transfer(chain, 5n)
  await chain.preconfirmations.tick()
  await chain.preconfirmations.loseSnapshot()
  const [pending, mixed] = [await readPending(), await readMixed(from)]
  await chain.preconfirmations.seal()
  expect(pending).toEqual([])
  expect(hashesOf(mixed)).toEqual([sealed])
})

test('a snapshot stuck behind the chain is not believed', async () => {
  const from = (await newest()) + 1n
  const hash = await transfer(chain, 6n)
  await chain.preconfirmations.tick()
  await chain.preconfirmations.phantomLog({ address: chain.token })
  expect(await readPending()).toHaveLength(2)
  await chain.preconfirmations.stall()
  await chain.preconfirmations.seal()
  await chain.preconfirmations.seal()
  const [pending, mixed] = [await readPending(), await readMixed(from)]
  await chain.preconfirmations.stall(false)
  expect(pending).toEqual([])
  expect(mixed.map((log) => [log.transactionHash, log.preconfirmed])).toEqual([
    [hash, false],
  ])
})

test('a stream goes on from its cursor after it was cut off', async () => {
  const { client } = countingClient(plain)
  const whole = await getLogs(client, everything())
  const stop = new AbortController()
  const found: ReadLog[] = []
  let fromBlock = 0n
  const filter = { address: plain.token, toBlock: head, maxBlockRange: 10n }
  const cut = async () => {
    const { signal } = stop
    for await (const chunk of streamLogs(client, {
      ...filter,
      fromBlock,
      signal,
    })) {
      found.push(...chunk.logs)
      fromBlock = chunk.cursor
      if (chunk.cursor > head / 2n) stop.abort()
    }
  }
  await expect(cut()).rejects.toMatchObject({ name: 'AbortError' })
  expect(found.length).toBeLessThan(whole.length)
  for await (const chunk of streamLogs(client, { ...filter, fromBlock }))
    found.push(...chunk.logs)
  expect(found.map(placeOf)).toEqual(whole.map(placeOf))
})

/** A chain of 2,000 blocks that hold 100 logs each, and 1,000 empty ones. */
const denseClient = createClient({
  transport: custom({
    request: async ({ params: [{ fromBlock, toBlock }] }) => {
      const [first, last] = [Number(fromBlock), Math.min(Number(toBlock), 1999)]
      const size = Math.max(0, last - first + 1) * 100
      return Array.from({ length: size }, (_, i) => ({
        address: `0x${'11'.repeat(20)}`,
        topics: [],
        data: '0x',
        blockNumber: numberToHex(first + Math.floor(i / 100)),
        blockHash: `0x${'22'.repeat(32)}`,
        transactionHash: `0x${'33'.repeat(32)}`,
        transactionIndex: numberToHex(i % 100),
        logIndex: numberToHex(i % 100),
      }))
    },
  }),
})

test('chunks of a dense range come near 2,500 logs, all in order', async () => {
  const sizes: number[] = []
  const blocks: bigint[] = []
  const range = { fromBlock: 0n, toBlock: 2999n }
  for await (const { logs, fromBlock, toBlock } of streamLogs(
    denseClient,
    range,
  )) {
    if (fromBlock < 2000n) sizes.push(logs.length)
    blocks.push(fromBlock, toBlock)
  }
  expect(sizes.reduce((a, b) => a + b)).toBe(200_000)
  const inner = sizes.slice(1, -1)
  expect([...new Set(inner)]).toEqual([2500])
  expect(blocks.at(-1)).toBe(2999n)
  expect(blocks.slice(2).filter((_, i) => i % 2 === 0)).toEqual(
    blocks
      .slice(1, -1)
      .filter((_, i) => i % 2 === 0)
      .map((last) => last + 1n),
  )
})
