import { startDevChain } from 'countersign/devchain'
import {
  createReadClient,
  getBalance,
  getTransactionCount,
} from 'countersign/reads'
import { type Address, createClient, custom, numberToHex } from 'viem'
import { sendTransaction } from 'viem/actions'
import { afterAll, expect, test } from 'vitest'
import { fundedAccount, newAccount } from '../../support/desk.js'

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

const ether = 10n ** 18n
const readerOf = (chain: typeof plain) =>
  createReadClient({ url: chain.urls.http })
const reader = readerOf(plain)

/** Sends 5 wei and leaves them in the pool. */
async function pay(chain: typeof plain, to: Address, nonce: number) {
  const { relayer } = chain.clients
  await sendTransaction(relayer, { to, value: 5n, gas: 21_000n, nonce })
}

const relayerOf = (chain: typeof plain) => chain.clients.relayer.account.address

async function viewOf(chain: typeof plain, to: Address, sent: number) {
  const client = readerOf(chain)
  const address = relayerOf(chain)
  const read = async (block: 'latest' | 'pending') => [
    await client.getBalance({ address: to, block }),
    (await client.getTransactionCount({ address, block })) - sent,
  ]
  return { latest: await read('latest'), pending: await read('pending') }
}

const countOf = (chain: typeof plain) =>
  readerOf(chain).getTransactionCount({
    address: relayerOf(chain),
    block: 'latest',
  })

test('balances and counts of a number are those of that block', async () => {
  const { address } = await fundedAccount(plain)
  const first = await plain.clients.public.getBlockNumber({ cacheTime: 0 })
  await plain.clients.relayer.sendTransactionSync({ to: address, value: 7n })
  const at = (block: bigint | `0x${string}`) =>
    reader.getBalance({ address, block })
  expect(await at(first)).toBe(ether)
  expect(await at(numberToHex(first))).toBe(ether)
  expect(await at(first + 1n)).toBe(ether + 7n)
  expect(await at(`0x0${(first + 1n).toString(16)}`)).toBe(ether + 7n)
})

test.each(['latest', 'pending'] as const)(
  'balance and count are those of %s',
  async (block) => {
    const { address } = await fundedAccount(plain)
    const sender = relayerOf(plain)
    const before = await reader.getTransactionCount({ address: sender, block })
    await plain.clients.relayer.sendTransactionSync({ to: address, value: 7n })
    expect(await reader.getBalance({ address, block })).toBe(ether + 7n)
    expect(await reader.getTransactionCount({ address: sender, block })).toBe(
      before + 1,
    )
  },
)

test.each(['safe', 'finalized', 'earliest'] as const)(
  'balance and count of %s are those of the block the node means by it',
  async (block) => {
    const address = plain.clients.payer.account.address
    await plain.clients.payer.sendTransactionSync({ to: address, value: 7n })
    const { number } = await plain.clients.public.getBlock({ blockTag: block })
    const count = (at: typeof block | bigint | 'latest') =>
      reader.getTransactionCount({ address, block: at })
    const wei = (at: typeof block | bigint) =>
      reader.getBalance({ address, block: at })
    expect(await count(block)).toBe(await count(number))
    expect(await count(block)).toBeLessThan(await count('latest'))
    expect(await wei(block)).toBe(await wei(number))
  },
)

test('an address nobody used has neither balance nor nonce', async () => {
  const { address } = newAccount()
  expect(await reader.getBalance({ address, block: 'latest' })).toBe(0n)
  expect(await reader.getTransactionCount({ address, block: 'latest' })).toBe(0)
})

test('a balance above what a number holds is exact', async () => {
  const { address } = newAccount()
  const value = 2n ** 200n + 1n
  await plain.clients.test.setBalance({ address, value })
  expect(await reader.getBalance({ address, block: 'latest' })).toBe(value)
})

test('a plain node counts its pool as pending', async () => {
  const { address: to } = newAccount()
  const sent = await countOf(plain)
  await plain.clients.test.setAutomine(false)
  await pay(plain, to, sent)
  await pay(plain, to, sent + 1)
  const view = await viewOf(plain, to, sent)
  await plain.clients.test.mine({ blocks: 1 })
  await plain.clients.test.setAutomine(true)
  expect(view).toEqual({ latest: [0n, 0], pending: [10n, 2] })
  const after = await viewOf(plain, to, sent)
  expect(after).toEqual({ latest: [10n, 2], pending: [10n, 2] })
})

test('Flashblocks count what is pre-confirmed and not the mempool', async () => {
  const { address: to } = newAccount()
  const sent = await countOf(flash)
  await pay(flash, to, sent)
  expect(await viewOf(flash, to, sent)).toEqual({
    latest: [0n, 0],
    pending: [0n, 0],
  })
  await flash.preconfirmations.tick()
  await pay(flash, to, sent + 1)
  expect(await viewOf(flash, to, sent)).toEqual({
    latest: [0n, 0],
    pending: [5n, 1],
  })
  await flash.preconfirmations.tick()
  await flash.preconfirmations.seal()
  expect(await viewOf(flash, to, sent)).toEqual({
    latest: [10n, 2],
    pending: [10n, 2],
  })
})

test('Flashblocks without a view answer pending like latest', async () => {
  const { address: to } = newAccount()
  const sent = await countOf(flash)
  await pay(flash, to, sent)
  await flash.preconfirmations.tick()
  await flash.preconfirmations.loseSnapshot()
  expect(await viewOf(flash, to, sent)).toEqual({
    latest: [0n, 0],
    pending: [0n, 0],
  })
  await flash.preconfirmations.seal()
})

test('with fast blocks pending balances are latest, pending counts look into the pool', async () => {
  const { address: to } = newAccount()
  const sent = await countOf(fast)
  await pay(fast, to, sent)
  expect(await viewOf(fast, to, sent)).toEqual({
    latest: [0n, 0],
    pending: [0n, 1],
  })
  await fast.clients.test.mine({ blocks: 1 })
  expect(await viewOf(fast, to, sent)).toEqual({
    latest: [5n, 1],
    pending: [5n, 1],
  })
})

const address = relayerOf(plain)

/** A node that counts what it is asked. */
function countingNode(result: unknown = '0x1') {
  const asked: unknown[] = []
  const request = async (question: unknown) => {
    asked.push(question)
    return result
  }
  const transport = custom({ request: request as never })
  return { client: createClient({ transport }), asked }
}

const checksummed = '0x5FbDB2315678afecb367f032d93F642f64180aa3'

test.each<[string, unknown, unknown]>([
  ['no address', undefined, 'latest'],
  ['a short address', '0x1234', 'latest'],
  ['a name', 'merchant.eth', 'latest'],
  [
    'an address with a wrong checksum',
    `${checksummed.slice(0, -1)}A`,
    'latest',
  ],
  ['no block', address, undefined],
  ['a number as block', address, 1],
  ['a negative block', address, -1n],
  ['decimal digits as block', address, '12'],
  ['hex of nothing', address, '0x'],
  ['hex of something else', address, '0x1g'],
  ['a hash as block', address, `0x${'ab'.repeat(32)}`],
  ['a tag that is none', address, 'newest'],
  ['a tag in capitals', address, 'Latest'],
  ['an object', address, { blockNumber: '0x1' }],
])('%s is refused before anything is sent', async (_, account, block) => {
  const { client, asked } = countingNode()
  const wrong = { address: account, block } as never
  for (const read of [getBalance, getTransactionCount])
    await expect(read(client, wrong)).rejects.toMatchObject({
      name: 'InvalidFieldError',
    })
  expect(asked).toEqual([])
})

test('addresses go out in lower case, whatever their checksum', async () => {
  const { client, asked } = countingNode()
  await getBalance(client, { address: checksummed, block: 26n })
  await getTransactionCount(client, { address: checksummed, block: '0x01a' })
  const params = [checksummed.toLowerCase(), '0x1a']
  expect(asked).toEqual([
    { method: 'eth_getBalance', params },
    { method: 'eth_getTransactionCount', params },
  ])
})

test.each([
  [null],
  [''],
  ['0x'],
  ['1'],
  ['-0x1'],
  ['0xzz'],
  [1],
  [{}],
  [['0x1']],
  [true],
  [`0x${'1'.repeat(65)}`],
])('an answer of %j is an error that names the method', async (result) => {
  const { client } = countingNode(result)
  const parameters = { address, block: 'latest' } as const
  await expect(getBalance(client, parameters)).rejects.toMatchObject({
    name: 'NodeAnswerError',
    details: { method: 'eth_getBalance' },
  })
  await expect(getTransactionCount(client, parameters)).rejects.toMatchObject({
    name: 'NodeAnswerError',
    details: { method: 'eth_getTransactionCount' },
  })
})

test('a count no account can have is an error, not a rounded number', async () => {
  const { client } = countingNode('0x20000000000001')
  await expect(
    getTransactionCount(client, { address, block: 'latest' }),
  ).rejects.toThrow('is no account nonce')
})

test('a block the chain has not reached is an error of the node', async () => {
  await expect(
    reader.getBalance({ address, block: 10n ** 9n }),
  ).rejects.toMatchObject({
    name: 'NodeError',
    details: { method: 'eth_getBalance' },
  })
})
