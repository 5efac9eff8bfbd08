import { startDevChain } from 'countersign/devchain'
import { createReadClient } from 'countersign/reads'
import type { Address } from 'viem'
import { afterAll, expect, test } from 'vitest'
import { getSubmitterHead } from '../../../../src/chain/state/getSubmitterHead.js'
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

test('account and heads are read in one HTTP request', async () => {
  const account = await sender()
  const { url, asked } = await startEndpoint(chain.urls.http)
  const submitter = await getSubmitterHead(createReadClient({ url }), {
    account,
  })
  expect(asked).toHaveLength(1)
  const spent = ether - (await reader.getBalance({ address: account }))
  expect(spent).toBeGreaterThan(0n)
  expect(submitter).toEqual({
    head: await blockOf('latest'),
    safe: await blockOf('safe'),
    finalized: await blockOf('finalized'),
    count: 2,
    pendingCount: 2,
    safeCount: 1,
    balance: ether - spent,
    tip: expect.any(BigInt),
    gasPrice: expect.any(BigInt),
  })
})

test('the safe block can be the finalized one', async () => {
  const account = await sender()
  const submitter = await getSubmitterHead(reader, {
    account,
    safe: 'finalized',
  })
  expect(submitter).toMatchObject({
    safe: await blockOf('finalized'),
    safeCount: 0,
  })
})

test('the safe block can be a number of blocks below the head', async () => {
  const account = await sender()
  await control.mine({ blocks: 3 })
  const { url, asked } = await startEndpoint(chain.urls.http)
  const client = createReadClient({ url })
  const at = async (safe: number) => {
    const submitter = await getSubmitterHead(client, { account, safe })
    return [
      submitter.head.number - (submitter.safe?.number ?? 0n),
      submitter.safeCount,
    ]
  }
  expect(await at(3)).toEqual([3n, 2])
  expect(await at(4)).toEqual([4n, 1])
  expect(await at(5)).toEqual([5n, 0])
  expect(asked).toHaveLength(6)
})

test('nothing is safe on a chain that has fewer blocks', async () => {
  const account = await sender()
  const submitter = await getSubmitterHead(reader, { account, safe: 1_000_000 })
  expect(submitter).toMatchObject({
    safe: undefined,
    safeCount: undefined,
    count: 2,
  })
})

test('pending transactions are counted apart', async () => {
  const account = await fundedAccount(chain)
  await control.setAutomine(false)
  await reader.sendRawTransaction({
    serializedTransaction: await account.signTransaction({
      chainId: 31337,
      to: account.address,
      nonce: 0,
      gas: 21_000n,
      maxFeePerGas: 10n ** 10n,
      maxPriorityFeePerGas: 0n,
    }),
  })
  const submitter = await getSubmitterHead(reader, { account: account.address })
  await control.setAutomine(true)
  await control.mine({ blocks: 1 })
  expect(submitter).toMatchObject({ count: 0, pendingCount: 1, safeCount: 0 })
})

const isTagged = (params: unknown) => /safe|finalized/.test(String(params))

test.each([
  ['geth', -32000, 'safe block not found'],
  ['besu', -39001, 'Unknown block'],
  ['an old node', -32602, 'invalid argument 0: hex string without 0x prefix'],
])('a node without a safe block, as %s, gives none', async (_, code, words) => {
  const { client } = fakeNode(chain, ({ params }, forward) =>
    isTagged(params) ? Promise.reject(rpcError(code, words)) : forward(),
  )
  const account = relayer.account.address
  expect(await getSubmitterHead(client, { account })).toMatchObject({
    head: await blockOf('latest'),
    safe: undefined,
    finalized: undefined,
    safeCount: undefined,
  })
})

test('a node that answers null for a tag has no such block', async () => {
  const { client } = fakeNode(chain, async ({ method, params }, forward) =>
    isTagged(params) && method === 'eth_getBlockByNumber' ? null : forward(),
  )
  const account = relayer.account.address
  expect(await getSubmitterHead(client, { account })).toMatchObject({
    safe: undefined,
    finalized: undefined,
  })
})

test('a chain without EIP-1559 gives no tip', async () => {
  const { client } = fakeNode(chain, ({ method }, forward) =>
    method === 'eth_maxPriorityFeePerGas'
      ? Promise.reject(rpcError(-32601, 'method not found'))
      : forward(),
  )
  const account = relayer.account.address
  expect(await getSubmitterHead(client, { account })).toMatchObject({
    tip: undefined,
    gasPrice: expect.any(BigInt),
  })
})

test.each([
  'eth_getBlockByNumber',
  'eth_getTransactionCount',
  'eth_getBalance',
])('a fault in %s is no missing block', async (faulty) => {
  const { client } = fakeNode(chain, ({ method }, forward) =>
    method === faulty
      ? Promise.reject(rpcError(-32005, 'rate limit reached'))
      : forward(),
  )
  const account = relayer.account.address
  await expect(getSubmitterHead(client, { account })).rejects.toMatchObject({
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
    await expect(getSubmitterHead(client, { account })).rejects.toMatchObject({
      name: 'NodeError',
      retryable: true,
    })
  },
)
