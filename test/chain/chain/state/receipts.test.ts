import { startDevChain } from 'countersign/devchain'
import {
  createReadClient,
  decodeTokenLog,
  getBlockReceipts,
  type ReadReceipt,
} from 'countersign/reads'
import {
  type Address,
  createClient,
  encodeFunctionData,
  erc20Abi,
  http,
  numberToHex,
} from 'viem'
import { getBlock, sendTransaction } from 'viem/actions'
import { afterAll, expect, test } from 'vitest'
import { newAccount } from '../../support/desk.js'
import { startEndpoint } from '../../support/endpoint.js'

const plain = await startDevChain({ blockTime: 0 })
const flash = await startDevChain({
  preconfirmations: 'flashblocks',
  blockTime: 0,
  tick: 0,
})
const fast = await startDevChain({
  preconfirmations: 'fastBlocks',
  blockTime: 0,
})
const chains = [plain, flash, fast]
afterAll(() => Promise.all(chains.map((chain) => chain.stop())))

const readerOf = (chain: typeof plain) =>
  createReadClient({ url: chain.urls.http })
const reader = readerOf(plain)

const list = 'eth_getBlockReceipts'
const single = 'eth_getTransactionReceipt'
const header = 'eth_getBlockByNumber'

/** An endpoint that forbids the method, as public ones do. */
const forbidding = (chain: typeof plain, status = 403, error?: object) =>
  startEndpoint(chain.urls.http, (calls) =>
    calls.some(({ method }) => method === list)
      ? { status, body: error ? { error } : {} }
      : undefined,
  )

/** Mines this many transfers of the chain's ether as one block. */
async function mineTransfers(count: number): Promise<bigint> {
  const { test: node, relayer, public: client } = plain.clients
  const { address } = relayer.account
  const first = await reader.getTransactionCount({ address, block: 'latest' })
  await node.setAutomine(false)
  const sends = Array.from({ length: count }, (_, at) =>
    sendTransaction(relayer, {
      to: address,
      value: 1n,
      gas: 21_000n,
      nonce: first + at,
      maxFeePerGas: 10n ** 10n,
      maxPriorityFeePerGas: 1n,
    }),
  )
  await Promise.all(sends)
  await node.mine({ blocks: 1 })
  await node.setAutomine(true)
  return client.getBlockNumber({ cacheTime: 0 })
}

const pool = await mineTransfers(300)

/** Five token units, as the newest block. */
async function transfer(to: Address = newAccount().address): Promise<void> {
  const args = [to, 5n] as const
  const data = encodeFunctionData({
    abi: erc20Abi,
    functionName: 'transfer',
    args,
  })
  await plain.clients.payer.sendTransactionSync({ to: plain.token, data })
}

test('a block of 300 transactions has 300 receipts, in order', async () => {
  const { receipts, ...block } = await reader.getBlockReceipts({ block: pool })
  const found = await getBlock(plain.clients.public, { blockNumber: pool })
  expect(block).toEqual({ blockNumber: pool, blockHash: found.hash })
  expect(found.transactions.length).toBe(300)
  expect(receipts.map((it) => it.transactionHash)).toEqual(found.transactions)
  expect(receipts.map((it) => it.transactionIndex)).toEqual([
    ...Array(300).keys(),
  ])
  expect(new Set(receipts.map((it) => it.gasUsed))).toEqual(new Set([21_000n]))
})

test('receipt by receipt, a block of 300 takes its header and three batches', async () => {
  const whole = await reader.getBlockReceipts({ block: pool })
  const { url, asked } = await forbidding(plain)
  const client = createReadClient({ url })
  const parameters = { block: pool, fallback: 'perTransaction' } as const
  expect(await client.getBlockReceipts(parameters)).toEqual(whole)
  expect(asked.map((calls) => [calls[0], calls.length])).toEqual([
    [list, 1],
    [header, 1],
    ...Array(3).fill([single, 100]),
  ])
})

/** What viem makes of the same receipt. */
async function byViem({ transactionHash: hash }: ReadReceipt) {
  const read = await plain.clients.public.getTransactionReceipt({ hash })
  const { logs, type, ...receipt } = read
  return { receipt, logs }
}

test("anvil's own receipts hold what viem reads of them", async () => {
  await transfer()
  const { receipts } = await reader.getBlockReceipts({ block: 'latest' })
  const [minted] = receipts
  if (!minted) throw new Error('no receipt')
  const { receipt, logs } = await byViem(minted)
  const time = await getBlock(plain.clients.public)
  expect(minted).toMatchObject({
    ...receipt,
    blockTimestamp: time.timestamp,
    type: '0x2',
    preconfirmed: false,
  })
  expect(minted.logs.length).toBe(logs.length)
  for (const [at, log] of minted.logs.entries()) {
    const { address, topics, data, logIndex } = Object(logs[at])
    expect(log).toMatchObject({ address, topics, data, logIndex })
    expect(log.blockTimestamp).toBe(time.timestamp)
  }
})

test('the transfers of a block can be read from its receipts', async () => {
  const to = newAccount().address.toLowerCase() as Address
  await transfer(to)
  const { receipts } = await reader.getBlockReceipts({ block: 'latest' })
  const events = receipts.flatMap(({ logs }) => logs.map(decodeTokenLog))
  const from = plain.clients.payer.account.address.toLowerCase()
  expect(events.filter((event) => event?.name === 'Transfer')).toEqual([
    { name: 'Transfer', from, to, value: 5n },
  ])
})

test('a created contract is named, and a revert is one', async () => {
  const { relayer } = plain.clients
  const created = await relayer.sendTransactionSync({
    data: '0x60fe5f5360015ff3',
  })
  const read = await reader.getBlockReceipts({ block: created.blockNumber })
  expect(read.receipts).toMatchObject([
    { to: null, contractAddress: created.contractAddress, status: 'success' },
  ])
  const to = created.contractAddress
  const { blockNumber } = await relayer.sendTransactionSync({
    to,
    gas: 50_000n,
  })
  const failed = await reader.getBlockReceipts({ block: blockNumber })
  expect(failed.receipts).toMatchObject([{ to, status: 'reverted' }])
})

test('an empty block has its number and hash, and no receipts', async () => {
  await plain.clients.test.mine({ blocks: 1 })
  const { number, hash } = await getBlock(plain.clients.public)
  expect(await reader.getBlockReceipts({ block: 'latest' })).toEqual({
    blockNumber: number,
    blockHash: hash,
    receipts: [],
  })
})

test('a block is one and the same by number, hex and tag', async () => {
  await transfer()
  const { number } = await getBlock(plain.clients.public)
  const [byNumber, byHex, byTag] = await Promise.all(
    [number, numberToHex(number), 'latest' as const].map((block) =>
      reader.getBlockReceipts({ block }),
    ),
  )
  expect(byNumber?.receipts.length).toBe(1)
  expect([byHex, byTag]).toEqual([byNumber, byNumber])
})

test('a block the chain does not have is an error, not an empty list', async () => {
  await expect(
    reader.getBlockReceipts({ block: 10n ** 9n }),
  ).rejects.toMatchObject({
    name: 'NodeAnswerError',
    details: { method: list, problem: 'has no 0x3b9aca00 block' },
  })
})

test.each<[string, number, object | undefined]>([
  ['HTTP 403', 403, undefined],
  ['HTTP 403 and an error', 403, { code: -32000, message: 'Forbidden' }],
  ['method not found', 200, { code: -32601, message: 'Method not found' }],
  ['method not supported', 200, { code: -32004, message: 'not supported' }],
])(
  '%s is one request and an error that says what to do',
  async (_, status, error) => {
    const { url, asked } = await forbidding(plain, status, error)
    for (const client of [
      createReadClient({ url }),
      createClient({ transport: http(url) }),
    ]) {
      await expect(
        getBlockReceipts(client, { block: pool }),
      ).rejects.toMatchObject({
        name: 'BlockReceiptsForbiddenError',
        message: expect.stringContaining("pass fallback: 'perTransaction'"),
      })
      expect(asked.splice(0)).toEqual([[list]])
    }
  },
)

test.each<[string, number, object | undefined]>([
  ['HTTP 403', 403, undefined],
  ['method not found', 200, { code: -32601, message: 'Method not found' }],
])(
  'after %s the fallback is the header and one batch',
  async (_, status, error) => {
    await transfer()
    const block = 'latest'
    const whole = await reader.getBlockReceipts({ block })
    const { url, asked } = await forbidding(plain, status, error)
    const client = createReadClient({ url })
    const read = () =>
      client.getBlockReceipts({ block, fallback: 'perTransaction' })
    expect(await read()).toEqual(whole)
    expect(asked.splice(0)).toEqual([[list], [header], [single]])
    expect(await read()).toEqual(whole)
    expect(asked).toEqual([[header], [single]])
  },
)

test('a forbidden method does not take the other reads of its tick along', async () => {
  const { url, asked } = await forbidding(plain)
  const client = createReadClient({ url })
  const { address } = plain.clients.relayer.account
  const [receipts, wei, nonce] = await Promise.allSettled([
    client.getBlockReceipts({ block: pool }),
    client.getBalance({ address, block: pool }),
    client.getTransactionCount({ address, block: pool }),
  ])
  expect(receipts).toMatchObject({
    reason: { name: 'BlockReceiptsForbiddenError' },
  })
  expect([wei.status, nonce.status]).toEqual(['fulfilled', 'fulfilled'])
  const others = ['eth_getBalance', 'eth_getTransactionCount']
  expect(asked).toEqual([[list, ...others], others])
})

test('one endpoint that forbids says nothing about another', async () => {
  const { url } = await forbidding(plain)
  await expect(
    createReadClient({ url }).getBlockReceipts({ block: pool }),
  ).rejects.toThrow('forbids')
  const { receipts } = await reader.getBlockReceipts({ block: pool })
  expect(receipts.length).toBe(300)
})

const pendingOf = async (client: ReturnType<typeof readerOf>) => {
  const parameters = { block: 'pending', fallback: 'perTransaction' } as const
  const { receipts, ...block } = await client.getBlockReceipts(parameters)
  const hashes = receipts.map((receipt) => receipt.transactionHash)
  const isEarly = receipts.map((receipt) => receipt.preconfirmed)
  return { ...block, hashes, isEarly }
}

/** The same chain through an endpoint with the method and one without. */
const ways = async (chain: typeof plain) => [
  readerOf(chain),
  createReadClient({ url: (await forbidding(chain)).url }),
]

const send = (chain: typeof plain) =>
  sendTransaction(chain.clients.relayer, {
    to: newAccount().address,
    value: 1n,
    gas: 21_000n,
  })

test('pending on a plain node is its newest block, and says so', async () => {
  await transfer()
  const { number, hash, transactions } = await getBlock(plain.clients.public)
  await plain.clients.test.setAutomine(false)
  await send(plain)
  const found = await Promise.all((await ways(plain)).map(pendingOf))
  await plain.clients.test.mine({ blocks: 1 })
  await plain.clients.test.setAutomine(true)
  const newest = { blockNumber: number, blockHash: hash, hashes: transactions }
  expect(found).toEqual(Array(2).fill({ ...newest, isEarly: [false] }))
})

test('pending with Flashblocks is the block in the making, without a hash', async () => {
  const { number } = await getBlock(flash.clients.public)
  const sent = await send(flash)
  await flash.preconfirmations.tick()
  const found = await Promise.all((await ways(flash)).map(pendingOf))
  await flash.preconfirmations.seal()
  expect(found).toEqual(
    Array(2).fill({
      blockNumber: number + 1n,
      blockHash: undefined,
      hashes: [sent],
      isEarly: [true],
    }),
  )
})

test('pending with fast blocks is the newest block, with its hash', async () => {
  const sent = await send(fast)
  await fast.clients.test.mine({ blocks: 1 })
  const { number, hash } = await getBlock(fast.clients.public)
  const found = await Promise.all((await ways(fast)).map(pendingOf))
  expect(found).toEqual(
    Array(2).fill({
      blockNumber: number,
      blockHash: hash,
      hashes: [sent],
      isEarly: [false],
    }),
  )
})

test('logs inside receipts of fast blocks keep whole seconds', async () => {
  await fast.mint({ to: newAccount().address, value: 5n })
  const { timestamp } = await getBlock(fast.clients.public)
  const { receipts } = await readerOf(fast).getBlockReceipts({
    block: 'latest',
  })
  const times = receipts.flatMap(({ logs }) =>
    logs.map((it) => it.blockTimestamp),
  )
  expect(times.length).toBeGreaterThan(0)
  expect(new Set(times)).toEqual(new Set([timestamp]))
})
