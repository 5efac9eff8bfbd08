import { type Hash, numberToHex, zeroHash } from 'viem'
import { expect, test } from 'vitest'
import { ask, askList, freshAddress, transfer } from '../support/emulated.js'
import {
  chain,
  clients,
  control,
  countOf,
  fifth,
  fourth,
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
