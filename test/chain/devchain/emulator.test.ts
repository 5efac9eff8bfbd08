import { numberToHex, zeroHash } from 'viem'
import { expect, test } from 'vitest'
import {
  ask,
  askList,
  freshAddress,
  type Json,
  transfer,
} from '../support/emulated.js'
import {
  chain,
  clients,
  control,
  countOf,
  hashesOf,
  head,
  latestView,
  logs,
  nothing,
  payer,
  pendingBlock,
  receiptOf,
  token,
  viewOf,
} from '../support/emulatorDesk.js'

test('before a tick only its hash leads to a sent transaction, after it everything does', async () => {
  const to = freshAddress()
  const hash = await transfer(chain, to)
  expect(await viewOf(hash, to)).toEqual({ ...nothing, transaction: null })
  const status = await ask(chain, 'base_transactionStatus', hash)
  expect(status).toEqual({ status: 'Known' })

  await control.tick()
  expect(await viewOf(hash, to)).toEqual({
    balance: 1,
    count: 1,
    receipt: true,
    transaction: numberToHex((await head()) + 1),
    block: [hash],
    size: '0x1',
    receipts: [hash],
    logs: [hash],
  })
})

test('a pre-confirmed transaction has real numbers and no block hash', async () => {
  const hash = await transfer(chain)
  await control.tick()
  const blockNumber = numberToHex((await head()) + 1)
  const place = { blockNumber, transactionIndex: '0x0' }
  const receipt = await receiptOf(hash)
  expect(receipt).toMatchObject({
    ...place,
    blockHash: zeroHash,
    status: '0x1',
  })
  const [log] = receipt.logs as Json[]
  const block = await pendingBlock()
  expect(log).toMatchObject({
    ...place,
    address: token,
    blockHash: zeroHash,
    blockTimestamp: block.timestamp,
    logIndex: '0x0',
    transactionHash: hash,
    removed: false,
  })
  expect(block).toMatchObject({ number: blockNumber, hash: zeroHash })
  const transaction = await ask(chain, 'eth_getTransactionByHash', hash)
  expect(transaction).toMatchObject({ ...place, blockHash: null })
  expect((await pendingBlock(true)).transactions).toEqual([transaction])
})

test('what is sealed is what was pre-confirmed', async () => {
  const hash = await transfer(chain)
  await control.tick()
  const before = await receiptOf(hash)
  const { timestamp } = await pendingBlock()
  await control.seal()
  const { blockTimestamp: _, ...after } = await receiptOf(hash)
  const sealed = await ask(chain, 'eth_getBlockByNumber', 'latest', false)
  expect(sealed).toMatchObject({ timestamp, transactions: [hash] })
  const real = sealed.hash
  const renamed = (list: unknown) =>
    (list as Json[]).map((log) => ({ ...log, blockHash: real }))
  const expected = { ...before, blockHash: real, logs: renamed(before.logs) }
  expect(after).toEqual(expected)
  expect(real).not.toBe(zeroHash)
})

test('what arrives after the last tick waits for the next block', async () => {
  const first = await transfer(chain)
  await control.tick()
  const second = await transfer(chain)
  await control.seal()
  expect((await receiptOf(first)).blockHash).not.toBe(zeroHash)
  expect(await receiptOf(second)).toBeNull()
  await control.tick()
  expect((await receiptOf(second)).blockHash).toBe(zeroHash)
})

test('log ranges look at the pre-confirmed part only with toBlock pending', async () => {
  const canonical = await transfer(chain)
  await control.tick()
  await control.seal()
  const pending = await transfer(chain)
  await control.tick()
  const newest = await head()
  const [number, above] = [newest, newest + 50].map((it) => numberToHex(it))
  const of = async (from?: string, to?: string) =>
    hashesOf(await logs(from, to)).slice(-2)
  expect(await of('pending', 'pending')).toEqual([pending])
  expect(await of('latest', 'pending')).toEqual([canonical, pending])
  expect(await of(undefined, 'pending')).toEqual([canonical, pending])
  expect(await of(number, 'pending')).toEqual([canonical, pending])
  expect(await of('earliest', 'pending')).toEqual([canonical, pending])
  expect(await of('0x0', 'pending')).toEqual([canonical, pending])
  // The snapshot is filtered by address and topics, never by number.
  expect(await of(above, 'pending')).toEqual([pending])
  for (const to of ['latest', 'safe', 'finalized', 'earliest'])
    expect(await of('pending', to)).toEqual([])
  expect(await of('pending')).toEqual([canonical])
  expect(await of('pending', number)).toEqual([canonical])
  expect(await of()).toEqual([canonical])
})

test('pre-confirmed logs are filtered by address and topics', async () => {
  const to = freshAddress()
  await transfer(chain, to)
  const hash = await transfer(chain)
  await control.tick()
  const find = (filter: Json) =>
    askList(chain, 'eth_getLogs', {
      fromBlock: 'pending',
      toBlock: 'pending',
      ...filter,
    })
  const word = `0x${to.slice(2).padStart(64, '0')}`
  const mine = await find({ topics: [null, null, [word, zeroHash]] })
  expect(mine).toHaveLength(1)
  expect(hashesOf(mine)).not.toContain(hash)
  expect(await find({ address: [token.toUpperCase()] })).toHaveLength(2)
  expect(await find({ address: to })).toEqual([])
  // As reth has it: a position that takes anything takes a missing topic too.
  expect(await find({ topics: [[], null, null, null] })).toHaveLength(2)
})

test('the canonical range obeys the rules of a Base node', async () => {
  const newest = await head()
  const [last, above] = [newest, newest + 9].map((it) => numberToHex(it))
  await expect(logs('0x0', above)).rejects.toMatchObject({
    code: -32602,
    message: `block range extends beyond current head block: requested ${newest + 9}, head ${newest}`,
  })
  const backwards = { code: -32602, message: 'invalid block range params' }
  await expect(logs(last, '0x0')).rejects.toMatchObject(backwards)
  expect(await logs(above)).toEqual([])
  const { hash } = await ask(chain, 'eth_getBlockByNumber', 'latest', false)
  const both = { blockHash: hash, fromBlock: '0x0' }
  const refused = { code: -32602 }
  const asked = ask(chain, 'eth_getLogs', both)
  await expect(asked).rejects.toMatchObject(refused)
})

test('a canonical log hides the pre-confirmed one at its position', async () => {
  const hash = await transfer(chain)
  await control.tick()
  await control.stall()
  await control.seal()
  const mixed = await logs('latest', 'pending')
  expect(hashesOf(mixed)).toEqual([hash])
  expect(mixed[0]?.blockHash).not.toBe(zeroHash)
  expect(await logs('pending', 'pending')).toMatchObject([
    { transactionHash: hash, blockHash: zeroHash },
  ])
})

test('the pending count leaves out the mempool', async () => {
  const before = await countOf('latest')
  await transfer(chain)
  await control.tick()
  await transfer(chain)
  await transfer(chain)
  expect(await countOf('pending')).toBe(before + 1)
  await control.tick()
  expect(await countOf('pending')).toBe(before + 3)
})

test('the pending balance and the pending estimate see what is pre-confirmed', async () => {
  const to = freshAddress()
  await clients.payer.sendTransaction({ to, value: 7n })
  const spend = { from: to, to: payer, value: '0x7', gasPrice: '0x0' }
  await control.tick()
  expect(await ask(chain, 'eth_getBalance', to, 'pending')).toBe('0x7')
  expect(await ask(chain, 'eth_getBalance', to, 'latest')).toBe('0x0')
  const estimate = await ask(chain, 'eth_estimateGas', spend, 'pending')
  expect(Number(estimate)).toBe(21_000)
})

test('without a snapshot pending is latest, until the next block opens', async () => {
  const to = freshAddress()
  const hash = await transfer(chain, to)
  await control.tick()
  await control.loseSnapshot()
  const latest = await ask(chain, 'eth_getBlockByNumber', 'latest', false)
  const seen = await viewOf(hash, to)
  expect(seen).toEqual({ ...nothing, ...(await latestView()) })
  expect(await pendingBlock()).toEqual(latest)
  expect(await logs('latest', 'pending')).toEqual(await logs('latest'))
  await control.seal()
  expect(await pendingBlock()).toMatchObject({ hash: zeroHash })
})
