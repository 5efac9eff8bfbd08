import { createReadClient } from 'countersign/reads'
import { expect, test } from 'vitest'
import { startEndpoint } from '../support/endpoint.js'
import { chain, to } from '../support/specChain.js'
import { flash, nodeOf, readerOf, transfer } from '../support/specReads.js'

const blockTags = [
  'latest',
  'pending',
  'safe',
  'finalized',
  'earliest',
] as const

test('envelope, request: HTTP POST of JSON with jsonrpc, method, params and id', async () => {
  const { url, posts } = await startEndpoint(chain.urls.http)
  await createReadClient({ url }).getBalance({ address: to, block: 'latest' })
  const body = {
    jsonrpc: '2.0',
    id: expect.any(Number),
    method: 'eth_getBalance',
    params: [to, 'latest'],
  }
  expect(posts).toEqual([
    { method: 'POST', contentType: 'application/json', body },
  ])
})

test('envelope, response: the result with the id of the request is its answer', async () => {
  const { url } = await startEndpoint(chain.urls.http, ([call]) => ({
    status: 200,
    body: { id: Number(call?.id) + 1, result: '0x1' },
  }))
  await expect(
    createReadClient({ url }).getBalance({ address: to, block: 'latest' }),
  ).rejects.toThrow('no answer has the id of the call')
})

test.each(['0x1f', ...blockTags] as const)(
  'block selectors, %s: taken where a block parameter is, and sent as it is',
  async (block) => {
    const { client, asked } = nodeOf({
      eth_getBalance: '0x0',
      eth_getTransactionCount: '0x0',
      eth_blockNumber: '0x1f',
      eth_getLogs: [],
    })
    await client.getBalance({ address: to, block })
    await client.getTransactionCount({ address: to, block })
    await client.getBlockReceipts({ block }).catch(() => {})
    expect(asked.slice(0, 3).map(({ params }) => params.at(-1))).toEqual([
      block,
      block,
      block,
    ])
  },
)

test('block selectors, number: a bigint is sent as a hex string', async () => {
  const { client, asked } = nodeOf({ eth_getBalance: '0x0' })
  await client.getBalance({ address: to, block: 31n })
  expect(asked).toEqual([{ method: 'eth_getBalance', params: [to, '0x1f'] }])
})

test('block selectors, pending: the result reflects pre-confirmed transactions', async () => {
  const client = readerOf(flash)
  const { address } = flash.clients.payer.account
  const count = (block: 'latest' | 'pending') =>
    client.getTransactionCount({ address, block })
  const before = await count('latest')
  await transfer(flash)
  await flash.preconfirmations.tick()
  expect(await count('latest')).toBe(before)
  expect(await count('pending')).toBe(before + 1)
  await flash.preconfirmations.seal()
})
