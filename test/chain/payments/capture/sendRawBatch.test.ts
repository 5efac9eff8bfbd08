import { startDevChain } from 'countersign/devchain'
import { createReadClient } from 'countersign/reads'
import { type Hash, type Hex, keccak256 } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, expect, test } from 'vitest'
import { sendRawBatch } from '../../../../src/payments/capture/sendRawBatch.js'
import {
  fakeNode,
  fundedAccount,
  newAccount,
  rpcError,
} from '../../support/desk.js'
import { startEndpoint } from '../../support/endpoint.js'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

const { public: reader, relayer, test: control } = chain.clients
const gwei = 10n ** 9n
const client = createReadClient({ url: chain.urls.http })

async function signed(
  account: PrivateKeyAccount,
  nonce: number,
  fields: { price?: bigint; value?: bigint; chainId?: number } = {},
): Promise<{ hash: Hash; raw: Hex }> {
  const { price = 10n * gwei, value = 0n, chainId = 31337 } = fields
  const raw = await account.signTransaction({
    chainId,
    to: relayer.account.address,
    nonce,
    gas: 21_000n,
    value,
    maxFeePerGas: price,
    maxPriorityFeePerGas: price / 2n,
  })
  return { hash: keccak256(raw), raw }
}

test('transactions arrive in their order, in one request', async () => {
  const account = await fundedAccount(chain)
  const nonces = Array.from({ length: 20 }, (_, nonce) => nonce)
  const all = await Promise.all(nonces.map((at) => signed(account, at)))
  const { url, asked, posts } = await startEndpoint(chain.urls.http)
  const outcomes = await sendRawBatch(createReadClient({ url }), all)
  expect(outcomes).toEqual(all.map(({ hash }) => ({ hash, status: 'sent' })))
  expect(asked).toHaveLength(1)
  const bodies = posts[0]?.body as { params: [Hex] }[]
  expect(bodies.map(({ params }) => params[0])).toEqual(
    all.map(({ raw }) => raw),
  )
  const { hash } = all[19] ?? { hash: '0x' }
  await reader.waitForTransactionReceipt({ hash })
  expect(await reader.getTransactionCount(account)).toBe(20)
})

test('anvil says of each what is the matter', async () => {
  await control.setAutomine(false)
  const account = await fundedAccount(chain)
  const first = await signed(account, 0)
  const poor = await signed(newAccount(), 0)
  const outcomes = await sendRawBatch(client, [
    first,
    await signed(account, 1),
    first,
    await signed(account, 0, { price: 9n * gwei, value: 1n }),
    await signed(account, 0, { price: 20n * gwei, value: 1n }),
    await signed(account, 2, { chainId: 1 }),
    poor,
  ])
  await control.mine({ blocks: 1 })
  const [late] = await sendRawBatch(client, [await signed(account, 1)])
  const [cheap] = await sendRawBatch(client, [
    await signed(account, 2, { price: 1n }),
  ])
  await control.setAutomine(true)
  expect([...outcomes, late, cheap].map((one) => one?.status)).toEqual([
    'sent',
    'sent',
    'known',
    'replacementUnderpriced',
    'sent',
    'refused',
    'insufficientFunds',
    'nonceTooLow',
    'underpriced',
  ])
  expect(outcomes[6]).toEqual({
    hash: poor.hash,
    status: 'insufficientFunds',
    words: 'Insufficient funds for gas * price + value',
  })
})

test('what is not answered is sent once and left open', async () => {
  const one = await signed(await fundedAccount(chain), 0)
  const { url, asked } = await startEndpoint(chain.urls.http, () => ({
    status: 503,
    body: {},
  }))
  const open = { hash: one.hash, status: 'unclear', words: 'HTTP 503' }
  expect(await sendRawBatch(createReadClient({ url }), [one])).toEqual([open])
  expect(asked).toHaveLength(1)

  const node = fakeNode(chain, async () => {
    throw new Error('socket hang up')
  })
  expect(await sendRawBatch(node.client, [one])).toMatchObject([
    { status: 'unclear' },
  ])
  expect(node.asked).toHaveLength(1)
})

test('an answer that is not its hash leaves it open', async () => {
  const one = await signed(await fundedAccount(chain), 0)
  for (const answer of [null, '0x', keccak256('0x01')]) {
    const node = fakeNode(chain, async () => answer)
    expect(await sendRawBatch(node.client, [one])).toEqual([
      {
        hash: one.hash,
        status: 'unclear',
        words: 'the node gave another hash',
      },
    ])
  }
  const shouting = fakeNode(chain, async () =>
    one.hash.toUpperCase().replace('0X', '0x'),
  )
  expect(await sendRawBatch(shouting.client, [one])).toEqual([
    { hash: one.hash, status: 'sent' },
  ])
})

test('an answer for one leaves the others alone', async () => {
  const account = await fundedAccount(chain)
  const all = await Promise.all([0, 1, 2].map((at) => signed(account, at)))
  const { client: picky } = fakeNode(chain, ({ params }, forward) =>
    String(params) === all[1]?.raw
      ? Promise.reject(rpcError(-32000, 'txpool is full'))
      : forward(),
  )
  const outcomes = await sendRawBatch(picky, all)
  expect(outcomes.map(({ status }) => status)).toEqual([
    'sent',
    'poolFull',
    'sent',
  ])
})

test('of nothing nothing is sent', async () => {
  const { client: silent, asked } = fakeNode(chain)
  expect(await sendRawBatch(silent, [])).toEqual([])
  expect(asked).toEqual([])
})

test('a node that quotes the transaction does not get it into the words', async () => {
  const one = await signed(await fundedAccount(chain), 0)
  const { client: talkative } = fakeNode(chain, async () => {
    throw rpcError(-32000, `invalid: ${one.raw} ${one.raw.slice(2)}`, one.raw)
  })
  const [outcome] = await sendRawBatch(talkative, [one])
  expect(outcome?.status).toBe('refused')
  expect(JSON.stringify(outcome)).not.toContain(one.raw.slice(20, 60))
})
