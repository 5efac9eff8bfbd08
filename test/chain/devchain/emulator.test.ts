import { type Hash, numberToHex, zeroHash } from 'viem'
import { afterAll, afterEach, expect, test } from 'vitest'
import { startDevChain } from '../../../src/devchain/index.js'
import {
  ask,
  askList,
  freshAddress,
  type Json,
  transfer,
} from '../support/emulated.js'

const chain = await startDevChain({
  preconfirmations: 'flashblocks',
  tick: 0,
  blockTime: 0,
})
const { preconfirmations: control, token, clients } = chain
const payer = clients.payer.account.address
const [, , , fourth, fifth] = chain.accounts.map(({ address }) => address)

afterAll(() => chain.stop())
afterEach(async () => {
  chain.setPolicies({})
  await control.stall(false)
  await control.tick()
  await control.seal()
})

const head = async () => Number(await ask(chain, 'eth_blockNumber'))
const receiptOf = (hash: Hash) => ask(chain, 'eth_getTransactionReceipt', hash)
const pendingBlock = (full = false) =>
  ask(chain, 'eth_getBlockByNumber', 'pending', full)
const logs = (fromBlock?: string, toBlock?: string) =>
  askList(chain, 'eth_getLogs', { address: token, fromBlock, toBlock })
const hashesOf = (list: Json[]) => list.map((log) => log.transactionHash)
const countOf = async (block: string) =>
  Number(await ask(chain, 'eth_getTransactionCount', payer, block))

/** Everything that may or may not know of a payment to an account. */
async function viewOf(hash: Hash, to: string) {
  const balanceOf = `0x70a08231${to.slice(2).padStart(64, '0')}`
  const call = { to: token, data: balanceOf }
  const [block, receipts] = [await pendingBlock(), 'eth_getBlockReceipts']
  return {
    balance: Number(await ask(chain, 'eth_call', call, 'pending')),
    count: (await countOf('pending')) - (await countOf('latest')),
    receipt: (await receiptOf(hash)) !== null,
    transaction: await blockOf(hash),
    block: block.transactions,
    size: await ask(chain, 'eth_getBlockTransactionCountByNumber', 'pending'),
    receipts: hashesOf(await askList(chain, receipts, 'pending')),
    logs: hashesOf(await logs('pending', 'pending')),
  }
}

const nothing = {
  balance: 0,
  count: 0,
  receipt: false,
  transaction: undefined,
  block: [],
  size: '0x0',
  receipts: [],
  logs: [],
}

/** The block of a transaction: none while it waits in the node's pool. */
async function blockOf(hash: Hash): Promise<unknown> {
  const found = await ask(chain, 'eth_getTransactionByHash', hash)
  return found === null ? undefined : (found as Json).blockNumber
}

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

async function latestView(): Promise<Json> {
  const { transactions } = await ask(
    chain,
    'eth_getBlockByNumber',
    'latest',
    false,
  )
  const block = transactions as string[]
  return {
    block,
    size: numberToHex(block.length),
    receipts: block,
  }
}

test('a policy makes pending fall back to latest', async () => {
  const to = freshAddress()
  const hash = await transfer(chain, to)
  await control.tick()
  chain.setPolicies({ pendingFallsBack: true })
  const seen = await viewOf(hash, to)
  expect(seen).toEqual({ ...nothing, ...(await latestView()) })
  chain.setPolicies({})
  expect((await viewOf(hash, to)).receipt).toBe(true)
})

test('a stalled snapshot falls behind latest and stays what it was', async () => {
  const to = freshAddress()
  await clients.payer.sendTransaction({ to, value: 3n })
  await control.tick()
  const count = await countOf('pending')
  const old = await pendingBlock()
  await control.stall()
  await clients.payer.sendTransaction({ to, value: 4n, nonce: count })
  await control.tick()
  for (let block = 0; block < 3; block++) await control.seal()
  expect(await pendingBlock()).toEqual(old)
  expect(Number(old.number)).toBe((await head()) - 2)
  expect([await countOf('pending'), await countOf('latest')]).toEqual([
    count,
    count + 1,
  ])
  const balances = ['pending', 'latest'].map((block) =>
    ask(chain, 'eth_getBalance', to, block),
  )
  expect(await Promise.all(balances)).toEqual(['0x3', '0x7'])
  await control.stall(false)
  expect(Number((await pendingBlock()).number)).toBe((await head()) + 1)
})

test('a dropped pre-confirmation never becomes canonical', async () => {
  const [gone, kept] = [await transfer(chain), await send(fourth)]
  await control.tick()
  expect(await control.dropPending(gone)).toEqual([gone])
  expect(await receiptOf(gone)).toBeNull()
  expect((await receiptOf(kept)).transactionIndex).toBe('0x0')
  await control.seal()
  expect(await receiptOf(gone)).toBeNull()
  expect((await receiptOf(kept)).blockHash).not.toBe(zeroHash)
})

test('what followed a dropped nonce waits for another transaction with it', async () => {
  const [gone, later] = [await transfer(chain), await transfer(chain)]
  await control.tick()
  await control.dropPending(gone)
  await control.tick()
  expect(await receiptOf(later)).toBeNull()
  const again = await transfer(chain)
  await control.tick()
  expect((await receiptOf(again)).transactionIndex).toBe('0x0')
  expect((await receiptOf(later)).transactionIndex).toBe('0x1')
})

function send(from = payer, to = freshAddress()): Promise<Hash> {
  const call = { from, to, value: '0x1' }
  const hash: unknown = ask(chain, 'eth_sendTransaction', call)
  return hash as Promise<Hash>
}

test('a reorder turns the senders around and seals them so', async () => {
  const hashes = [await send(fourth), await send(fifth), await send(fifth)]
  await control.tick()
  expect((await pendingBlock()).transactions).toEqual(hashes)
  await control.reorder()
  const turned = [hashes[1], hashes[2], hashes[0]]
  expect((await pendingBlock()).transactions).toEqual(turned)
  await control.seal()
  const sealed = await ask(chain, 'eth_getBlockByNumber', 'latest', false)
  expect(sealed.transactions).toEqual(turned)
})

test('a phantom log is shown as pre-confirmed and sealed nowhere', async () => {
  const first = await transfer(chain)
  await control.tick()
  await control.phantomLog({ address: token, topics: [zeroHash] })
  await transfer(chain)
  await control.tick()
  const pending = await logs('pending', 'pending')
  expect(pending.map(({ logIndex }) => logIndex)).toEqual(['0x0', '0x1', '0x2'])
  expect(pending[1]).toMatchObject({
    topics: [zeroHash],
    transactionHash: first,
  })
  expect((await receiptOf(first)).logs).toEqual(pending.slice(0, 2))
  await control.seal()
  const sealed = await logs('latest', 'pending')
  expect(sealed).toHaveLength(2)
  expect((await receiptOf(first)).logs).toEqual(sealed.slice(0, 1))
})

test.each([
  ['replayed', true],
  ['dropped', false],
] as const)('a reorg with transactions %s', async (transactions, returns) => {
  const hash = await transfer(chain)
  await control.tick()
  await control.seal()
  await control.seal()
  const before = await ask(chain, 'eth_getBlockByNumber', 'latest', false)
  await chain.reorg({ depth: 2, transactions })
  const after = await ask(chain, 'eth_getBlockByNumber', 'latest', false)
  expect(after.number).toBe(before.number)
  expect(after.hash).not.toBe(before.hash)
  expect(await receiptOf(hash)).toBeNull()
  await control.tick()
  await control.seal()
  expect((await receiptOf(hash)) !== null).toBe(returns)
})

test('a reorg deeper than the chain is refused', async () => {
  const depth = (await head()) + 1
  await expect(chain.reorg({ depth })).rejects.toThrow('depth must be from 1')
})

test('an account that is played sends through the mempool too', async () => {
  const from = freshAddress()
  await ask(chain, 'anvil_setBalance', from, '0xde0b6b3a7640000')
  await ask(chain, 'anvil_impersonateAccount', from)
  const hash = await send(from)
  await ask(chain, 'anvil_stopImpersonatingAccount', from)
  expect(await receiptOf(hash)).toBeNull()
  await control.tick()
  expect((await receiptOf(hash)).from).toBe(from)
  await control.seal()
  expect((await receiptOf(hash)).blockHash).not.toBe(zeroHash)
})

test('transactions are refused in the words of the node', async () => {
  const { sendTransaction, signTransaction } = clients.payer
  const to = freshAddress()
  const prepared = await clients.payer.prepareTransactionRequest({ to })
  const raw = await signTransaction(prepared)
  const submit = () => ask(chain, 'eth_sendRawTransaction', raw)
  await submit()
  await expect(submit()).rejects.toMatchObject({
    code: -32003,
    message: 'transaction already imported',
  })
  const { nonce, maxFeePerGas } = prepared
  const cheap = sendTransaction({ to, nonce, maxFeePerGas, value: 1n })
  await expect(cheap).rejects.toThrow('replacement transaction underpriced')
  await control.tick()
  await expect(submit()).rejects.toThrow('transaction already imported')
  const late = sendTransaction({ to, nonce, value: 1n })
  await expect(late).rejects.toThrow(/nonce too low|lower than the current/i)
  await control.seal()
  await expect(submit()).rejects.toThrow('nonce too low')
  const garbage = ask(chain, 'eth_sendRawTransaction', '0x1234')
  await expect(garbage).rejects.toMatchObject({ code: -32602 })
})

test('a better fee replaces what is still in the mempool', async () => {
  const { payer: wallet } = clients
  const to = freshAddress()
  const { nonce, maxFeePerGas } = await wallet.prepareTransactionRequest({ to })
  const first = await wallet.sendTransaction({ to, nonce, maxFeePerGas })
  const fee = maxFeePerGas * 2n
  const next = { to, nonce, maxFeePerGas: fee, maxPriorityFeePerGas: fee }
  const second = await wallet.sendTransaction(next)
  await control.tick()
  expect(await receiptOf(first)).toBeNull()
  expect((await receiptOf(second)).status).toBe('0x1')
})

test('a transaction after a gap waits until the gap is filled', async () => {
  const { payer: wallet } = clients
  const to = freshAddress()
  const nonce = await countOf('pending')
  const later = await wallet.sendTransaction({ to, nonce: nonce + 1 })
  await control.tick()
  expect(await receiptOf(later)).toBeNull()
  const first = await wallet.sendTransaction({ to, nonce })
  await control.tick()
  expect((await pendingBlock()).transactions).toEqual([first, later])
})

test('a contract that is deployed is pre-confirmed with its address', async () => {
  const deployed = await ask(chain, 'eth_sendTransaction', {
    from: payer,
    data: '0x6001600c60003960016000f300',
    gas: '0x30d40',
  })
  await control.tick()
  const receipt = await receiptOf(String(deployed) as Hash)
  const code = (block: string) =>
    ask(chain, 'eth_getCode', receipt.contractAddress, block)
  expect([await code('pending'), await code('latest')]).toEqual(['0x00', '0x'])
})

test('a block of 300 transactions keeps its order from tick to tick', async () => {
  const from = payer
  const hashes: Hash[] = []
  for (let at = 0; at < 300; at++) {
    hashes.push(await transfer(chain, fourth, from))
    if (at % 100 === 99) await control.tick()
  }
  expect((await pendingBlock()).transactions).toEqual(hashes)
  await control.seal()
  const sealed = await ask(chain, 'eth_getBlockByNumber', 'latest', false)
  expect(sealed.transactions).toEqual(hashes)
})

test('the controls of every chain work: mint, warp, pause, block', async () => {
  const to = freshAddress()
  const hash = await transfer(chain)
  await control.tick()
  const before = await ask(chain, 'eth_getBlockByNumber', 'latest', false)
  const startedAt = Date.now() / 1000
  await chain.warp(100)
  const after = await ask(chain, 'eth_getBlockByNumber', 'latest', false)
  const passed = Number(after.timestamp) - Number(before.timestamp)
  expect(passed).toBeGreaterThanOrEqual(100)
  expect(passed).toBeLessThan(130 + Date.now() / 1000 - startedAt)
  expect(after.transactions).toEqual([hash])
  await chain.mint({ to, value: 5n })
  await chain.pause()
  await chain.pause(false)
  await chain.block({ account: to })
  const mint = chain.mint({ to, value: 5n })
  await expect(mint).rejects.toThrow('Blacklistable: account is blacklisted')
})

test('the next timestamp can be named, and holds for what is pre-confirmed', async () => {
  const { timestamp } = await pendingBlock()
  const wanted = Number(timestamp) + 1_000
  await transfer(chain)
  await control.tick()
  await ask(chain, 'evm_setNextBlockTimestamp', wanted)
  expect(Number((await pendingBlock()).timestamp)).toBe(wanted)
  await control.seal()
  const sealed = await ask(chain, 'eth_getBlockByNumber', 'latest', false)
  expect(Number(sealed.timestamp)).toBe(wanted)
  expect(Number((await pendingBlock()).timestamp)).toBeGreaterThanOrEqual(
    wanted,
  )
})

test('mining by hand takes the mempool along and keeps an interval', async () => {
  const hash = await transfer(chain)
  const first = (await head()) + 1
  await ask(chain, 'anvil_mine', '0x3', '0xa')
  const blocks = await Promise.all(
    [0, 1, 2].map((at) =>
      ask(chain, 'eth_getBlockByNumber', numberToHex(first + at), false),
    ),
  )
  expect(blocks.map((block) => block.transactions)).toEqual([[hash], [], []])
  const [one, two, three] = blocks.map(({ timestamp }) => Number(timestamp))
  expect([Number(two) - Number(one), Number(three) - Number(two)]).toEqual([
    10, 10,
  ])
})

test('a revert to a snapshot takes blocks back and keeps what was sent', async () => {
  const snapshot = await ask(chain, 'evm_snapshot')
  const before = await head()
  await control.seal()
  const hash = await transfer(chain)
  await control.tick()
  expect(await ask(chain, 'evm_revert', snapshot)).toBe(true)
  expect(await head()).toBe(before)
  expect(await receiptOf(hash)).toBeNull()
  await control.tick()
  expect(Number((await receiptOf(hash)).blockNumber)).toBe(before + 1)
})

test('filters report canonical news once, and nothing that was tried out', async () => {
  const filter = await ask(chain, 'eth_newFilter', { address: token })
  const heads = await ask(chain, 'eth_newBlockFilter')
  const news = (id: unknown) => askList(chain, 'eth_getFilterChanges', id)
  const hash = await transfer(chain)
  await control.tick()
  expect([await news(filter), await news(heads)]).toEqual([[], []])
  await control.seal()
  expect(hashesOf(await news(filter))).toEqual([hash])
  expect(await news(heads)).toHaveLength(1)
  expect([await news(filter), await news(heads)]).toEqual([[], []])
  expect(await ask(chain, 'eth_uninstallFilter', filter)).toBe(true)
  await expect(news(filter)).rejects.toThrow('filter not found')
})
