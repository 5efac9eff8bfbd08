import { startDevChain } from 'countersign/devchain'
import { createReadClient } from 'countersign/reads'
import type { Address } from 'viem'
import { afterAll, expect, test } from 'vitest'
import {
  getSendingCosts,
  getSubmitterHead,
  getSubmitterSafe,
} from '../../../../src/chain/state/getSubmitterHead.js'
import { fakeNode, fundedAccount, rpcError } from '../../support/desk.js'
import { startEndpoint } from '../../support/endpoint.js'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

const { public: reader, relayer, test: control } = chain.clients
const ether = 10n ** 18n

/** An account that sent two transactions, each mined, and then two blocks. */
async function sender(): Promise<Address> {
  const account = await fundedAccount(chain)
  const to = relayer.account.address
  for (const nonce of [0, 1])
    await reader.sendRawTransactionSync({
      serializedTransaction: await account.signTransaction({
        chainId: 31337,
        to,
        nonce,
        gas: 21_000n,
        maxFeePerGas: 10n ** 10n,
        maxPriorityFeePerGas: 0n,
      }),
    })
  return account.address
}

const blockOf = async (block: 'latest' | 'safe' | 'finalized' | bigint) => {
  const { number, timestamp, hash, baseFeePerGas } = await reader.getBlock(
    typeof block === 'bigint' ? { blockNumber: block } : { blockTag: block },
  )
  return { number, timestamp, hash, baseFeePerGas }
}

test('each part is read in one HTTP request', async () => {
  const account = await sender()
  const { url, asked } = await startEndpoint(chain.urls.http)
  const client = createReadClient({ url })
  const shown = await getSubmitterHead(client, account)
  expect(asked).toHaveLength(1)
  expect(shown).toEqual({ head: await blockOf('latest'), count: 2 })
  const costs = await getSendingCosts(client, account)
  expect(asked).toHaveLength(2)
  const spent = ether - (await reader.getBalance({ address: account }))
  expect(spent).toBeGreaterThan(0n)
  expect(costs).toEqual({
    balance: ether - spent,
    tip: expect.any(BigInt),
    gasPrice: expect.any(BigInt),
  })
  const safe = await getSubmitterSafe(client, account, shown)
  expect(asked).toHaveLength(3)
  expect(safe).toEqual({ safe: await blockOf('safe'), safeCount: 1 })
})

test('the safe block can be the finalized one', async () => {
  const account = await sender()
  const { head } = await getSubmitterHead(reader, account)
  expect(
    await getSubmitterSafe(reader, account, { head, safe: 'finalized' }),
  ).toEqual({ safe: await blockOf('finalized'), safeCount: 0 })
})

test('the safe block can be a number of blocks below the head', async () => {
  const account = await sender()
  await control.mine({ blocks: 3 })
  const { url, asked } = await startEndpoint(chain.urls.http)
  const client = createReadClient({ url })
  const { head } = await getSubmitterHead(reader, account)
  const at = async (depth: number) => {
    const options = { head, safe: depth }
    const shown = await getSubmitterSafe(client, account, options)
    return [head.number - (shown.safe?.number ?? 0n), shown.safeCount]
  }
  expect(await at(3)).toEqual([3n, 2])
  expect(await at(4)).toEqual([4n, 1])
  expect(await at(5)).toEqual([5n, 0])
  expect(asked).toHaveLength(3)
})

test('nothing is safe on a chain that has fewer blocks', async () => {
  const account = await sender()
  const { head } = await getSubmitterHead(reader, account)
  expect(
    await getSubmitterSafe(reader, account, { head, safe: 1_000_000 }),
  ).toEqual({ safe: undefined, safeCount: undefined })
})

const isTagged = (params: unknown) => /safe|finalized/.test(String(params))

const noHead = { head: { number: 0n } }

test.each([
  ['geth', -32000, 'safe block not found'],
  ['besu', -39001, 'Unknown block'],
  ['an old node', -32602, 'invalid argument 0: hex string without 0x prefix'],
])('a node without a safe block, as %s, gives none', async (_, code, words) => {
  const { client } = fakeNode(chain, ({ params }, forward) =>
    isTagged(params) ? Promise.reject(rpcError(code, words)) : forward(),
  )
  const account = relayer.account.address
  expect(await getSubmitterSafe(client, account, noHead)).toEqual({
    safe: undefined,
    safeCount: undefined,
  })
})

test('a node that answers null for a tag has no such block', async () => {
  const { client } = fakeNode(chain, async ({ method, params }, forward) =>
    isTagged(params) && method === 'eth_getBlockByNumber' ? null : forward(),
  )
  const account = relayer.account.address
  expect(await getSubmitterSafe(client, account, noHead)).toMatchObject({
    safe: undefined,
  })
})

test('a chain without EIP-1559 gives no tip', async () => {
  const { client } = fakeNode(chain, ({ method }, forward) =>
    method === 'eth_maxPriorityFeePerGas'
      ? Promise.reject(rpcError(-32601, 'method not found'))
      : forward(),
  )
  const account = relayer.account.address
  expect(await getSendingCosts(client, account)).toMatchObject({
    tip: undefined,
    gasPrice: expect.any(BigInt),
  })
})

test.each([
  ['eth_getBlockByNumber', getSubmitterHead],
  ['eth_getTransactionCount', getSubmitterHead],
  ['eth_getBalance', getSendingCosts],
  ['eth_gasPrice', getSendingCosts],
])('a fault in %s is no missing answer', async (faulty, get) => {
  const { client } = fakeNode(chain, ({ method }, forward) =>
    method === faulty
      ? Promise.reject(rpcError(-32005, 'rate limit reached'))
      : forward(),
  )
  const account = relayer.account.address
  await expect(get(client, account)).rejects.toMatchObject({
    name: 'NodeError',
    retryable: true,
    details: { method: faulty },
  })
})

test.each([
  'rate limit reached',
  'too many requests, this address is blocked for a minute',
])(
  'a fault where the safe block is asked is no missing block either (%s)',
  async (words) => {
    const { client } = fakeNode(chain, ({ params }, forward) =>
      isTagged(params) ? Promise.reject(rpcError(-32005, words)) : forward(),
    )
    const account = relayer.account.address
    await expect(
      getSubmitterSafe(client, account, noHead),
    ).rejects.toMatchObject({ name: 'NodeError', retryable: true })
  },
)
