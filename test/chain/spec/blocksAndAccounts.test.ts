import { InvalidFieldError } from 'countersign'
import { startDevChain } from 'countersign/devchain'
import {
  BlockReceiptsForbiddenError,
  createReadClient,
} from 'countersign/reads'
import { toHex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { sendTransactionSync } from 'viem/actions'
import { expect, onTestFinished, test } from 'vitest'
import { tryRequest } from '../../../src/chain/rpc/requestNode.js'
import { startEndpoint } from '../support/endpoint.js'
import { client, merchant, node, to, token } from '../support/specChain.js'
import {
  flash,
  limited,
  nodeOf,
  reader,
  readerOf,
  transfer,
} from '../support/specReads.js'

test('eth_getBlockReceipts, result: one receipt per transaction, its fields typed', async () => {
  const { receiptOf, hash } = await transfer()
  const { blockNumber, gasUsed } = await receiptOf()
  const { receipts } = await reader.getBlockReceipts({ block: blockNumber })
  expect(receipts).toMatchObject([
    {
      transactionHash: hash,
      blockNumber,
      status: 'success',
      gasUsed,
      type: '0x2',
    },
  ])
  expect(await reader.getBlockReceipts({ block: toHex(blockNumber) })).toEqual(
    await reader.getBlockReceipts({ block: 'latest' }),
  )
})

test('eth_getBlockReceipts, pending: the receipts of the pre-confirmed block', async () => {
  const { hash } = await transfer(flash)
  await flash.preconfirmations.tick()
  const block = 'pending'
  const { receipts } = await readerOf(flash).getBlockReceipts({ block })
  expect(receipts).toMatchObject([
    { transactionHash: hash, preconfirmed: true },
  ])
  await flash.preconfirmations.seal()
})

test('difference, pending receipts: where a node has none, the newest sealed block answers and is named', async () => {
  const { receiptOf, hash } = await transfer()
  const { blockNumber, blockHash } = await receiptOf()
  const found = await reader.getBlockReceipts({ block: 'pending' })
  expect(found).toMatchObject({ blockNumber, blockHash })
  expect(found.receipts).toMatchObject([
    { transactionHash: hash, preconfirmed: false },
  ])
})

test('eth_getTransactionCount, params: address and block are required', async () => {
  const { client, asked } = nodeOf()
  for (const wrong of [{ address: to }, { block: 'latest' }])
    await expect(client.getTransactionCount(wrong as never)).rejects.toThrow(
      InvalidFieldError,
    )
  expect(asked).toEqual([])
})

test('eth_getTransactionCount, result: the nonce of the next transaction', async () => {
  const { address } = merchant.account
  const block = 'latest'
  const nonce = await reader.getTransactionCount({ address, block })
  const { transactionHash: hash } = await sendTransactionSync(merchant, {
    to: address,
    nonce,
  })
  expect(await client.getTransaction({ hash })).toMatchObject({ nonce })
  expect(await reader.getTransactionCount({ address, block })).toBe(nonce + 1)
})

test('eth_getTransactionCount, pending: includes all pre-confirmed transactions, so no nonce is skipped', async () => {
  const { address } = flash.clients.payer.account
  const count = () =>
    readerOf(flash).getTransactionCount({ address, block: 'pending' })
  const first = await count()
  for (const sent of [1, 2]) {
    await transfer(flash)
    await flash.preconfirmations.tick()
    expect(await count()).toBe(first + sent)
  }
  await flash.preconfirmations.seal()
  expect(await count()).toBe(first + 2)
})

test('eth_getBalance, params: address and block are required', async () => {
  const { client, asked } = nodeOf()
  for (const wrong of [{ address: to }, { block: 'latest' }])
    await expect(client.getBalance(wrong as never)).rejects.toThrow(
      InvalidFieldError,
    )
  expect(asked).toEqual([])
})

test('eth_getBalance, result: the native balance in wei', async () => {
  const { address } = privateKeyToAccount(generatePrivateKey())
  await node.setBalance({ address, value: 10n ** 24n + 1n })
  expect(await reader.getBalance({ address, block: 'latest' })).toBe(
    10n ** 24n + 1n,
  )
})

test('eth_getBalance, pending: the pre-confirmed balance', async () => {
  const { address } = privateKeyToAccount(generatePrivateKey())
  await flash.clients.relayer.sendTransaction({ to: address, value: 7n })
  await flash.preconfirmations.tick()
  const wei = (block: 'latest' | 'pending') =>
    readerOf(flash).getBalance({ address, block })
  expect([await wei('latest'), await wei('pending')]).toEqual([0n, 7n])
  await flash.preconfirmations.seal()
})

test('errors, eth_getBlockReceipts: HTTP status 403 on a public endpoint', async () => {
  const { url, asked } = await startEndpoint(limited.urls.http, () => ({
    status: 403,
    body: {},
  }))
  await expect(
    createReadClient({ url }).getBlockReceipts({ block: 'latest' }),
  ).rejects.toThrow(BlockReceiptsForbiddenError)
  expect(asked).toEqual([['eth_getBlockReceipts']])
  await expect(
    readerOf(limited).getBlockReceipts({ block: 'latest' }),
  ).rejects.toThrow(BlockReceiptsForbiddenError)
})

test('errors, eth_getLogs: a very large range that is rejected is read in parts', async () => {
  const { topics, hash, receiptOf } = await transfer(limited)
  await receiptOf()
  await limited.clients.test.mine({ blocks: 100 })
  const raw = [{ topics, fromBlock: '0x0', toBlock: 'latest' }]
  const plain = limited.clients.public
  expect((await tryRequest(plain, 'eth_getLogs', raw)).failure?.code).toBe(
    -32614,
  )
  const logs = await readerOf(limited).getLogs({ topics, fromBlock: 0n })
  expect(logs).toMatchObject([{ transactionHash: hash }])
})

test('limits, block range: at most 2,000 blocks in one request', async () => {
  const { client, asked } = nodeOf({ eth_getLogs: [] })
  await client.getLogs({ address: token, fromBlock: 1n, toBlock: 4500n })
  const ranges = asked
    .filter(({ method }) => method === 'eth_getLogs')
    .map(({ params: [filter] }) => {
      const { fromBlock, toBlock } = Object(filter)
      return [Number(fromBlock), Number(toBlock)]
    })
  expect(ranges.sort(([a = 0], [b = 0]) => a - b)).toEqual([
    [1, 2000],
    [2001, 4000],
    [4001, 4500],
  ])
})

test('limits, topics: a filter of more than four positions is refused', async () => {
  const { client, asked } = nodeOf()
  const topics = Array(5).fill(null)
  await expect(client.getLogs({ topics })).rejects.toThrow(InvalidFieldError)
  expect(asked).toEqual([])
})

test('limits, pre-confirmed refresh: a transaction is seen as pending within a few ticks of 200 ms', async () => {
  const live = await startDevChain({
    preconfirmations: 'flashblocks',
    blockTime: 60,
  })
  onTestFinished(() => live.stop())
  const { hash, topics } = await transfer(live)
  const pending = { fromBlock: 'pending', toBlock: 'pending' } as const
  const seen = () => readerOf(live).getLogs({ topics, ...pending })
  for (let look = 0; look < 500 && (await seen()).length === 0; look++)
    await new Promise((done) => setTimeout(done, 20))
  expect(await seen()).toMatchObject([{ transactionHash: hash }])
})
