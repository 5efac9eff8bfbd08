import { cancelCall } from 'countersign'
import { startDevChain } from 'countersign/devchain'
import { memoryStore, sealer } from 'countersign/store'
import { createWalletClient, http, parseAbi } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import {
  getTransactionReceipt,
  readContract,
  sendTransaction,
} from 'viem/actions'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { multicall } from '../../../../src/core/knownDelegates.js'
import { runWorker } from '../../../../src/orders/runWorker.js'
import { draft, fundedAccount, revoke } from '../../support/desk.js'
import { putMulticall } from '../../support/multicall3.js'
import {
  captureAll,
  openShop,
  rowsOf,
  type Shop,
  type ShopParameters,
  storeOrder,
  storeOrders,
  timesPaid,
} from '../../support/orderRows.js'

const chain = await startDevChain({ blockTime: 0, accounts: 20 })
afterAll(() => chain.stop())
await putMulticall(chain)
const { test: node } = chain.clients

const keys = { one: new Uint8Array(32).fill(1) }
const sealing = sealer({ keys, current: 'one' })

async function open(more: Partial<ShopParameters> = {}): Promise<Shop> {
  const account = await fundedAccount(chain)
  return openShop(chain, { account, seal: sealing, ...more })
}

/** Comes first in the next block. */
const earliest = {
  gas: 100_000n,
  maxFeePerGas: 10n ** 12n,
  maxPriorityFeePerGas: 10n ** 11n,
}

type Till = { shop: Shop; payers: PrivateKeyAccount[]; ids: string[] }

/** A shop with payments of as many payers, stored and not captured. */
async function openTill(
  count: number,
  more: Partial<ShopParameters> = {},
): Promise<Till & { payments: Awaited<ReturnType<typeof draft>>[] }> {
  const shop = await open(more)
  const payers: PrivateKeyAccount[] = []
  const payments: Awaited<ReturnType<typeof draft>>[] = []
  for (let at = 0; at < count; at++) {
    const signer = await fundedAccount(chain, 2_000_000n)
    payers.push(signer)
    payments.push(
      await draft(chain, {
        to: shop.account.address,
        amount: '1',
        primaryType: 'TransferWithAuthorization',
        signer,
      }),
    )
  }
  const ids = await Promise.all(payments.map((one) => storeOrder(shop, one)))
  return { shop, payers, payments, ids }
}

/** Mines nothing until the returned function is called. */
async function hold(): Promise<() => Promise<void>> {
  await node.setAutomine(false)
  const release = async () => {
    await node.mine({ blocks: 1 })
    await node.setAutomine(true)
  }
  onTestFinished(release)
  return release
}

const sentBy = async (shop: Shop, ids: readonly string[]) =>
  (await rowsOf(shop, ids)).transactions

const inFlight = async (shop: Shop, ids: readonly string[]) => {
  await expect
    .poll(async () => (await sentBy(shop, ids)).length, { timeout: 20_000 })
    .toBeGreaterThan(0)
  return sentBy(shop, ids)
}

test('captures that are due together share transactions, and their shares of the gas add up', async () => {
  const { shop, ids } = await openTill(12)
  const results = await captureAll(shop, ids)
  expect(results).toEqual(ids.map(() => 'captured'))
  const { transactions, proofs } = await rowsOf(shop, ids)
  expect(transactions.length).toBeLessThan(4)
  const carried = transactions.map(({ movements }) => movements.length)
  expect(carried.reduce((sum, one) => sum + one, 0)).toBe(12)
  for (const { hash = '0x' } of transactions) {
    const { gasUsed } = await getTransactionReceipt(chain.clients.public, {
      hash,
    })
    const shares = proofs.filter((one) => one.transactionHash === hash)
    expect(shares.reduce((sum, one) => sum + one.gasUsed, 0n)).toBe(gasUsed)
  }
  expect(await timesPaid(shop, ids)).toEqual(ids.map(() => 1))
})

test('with `off`, each capture has a transaction of its own', async () => {
  const { shop, ids } = await openTill(3, { policy: { batch: 'off' } })
  expect(await captureAll(shop, ids)).toEqual(ids.map(() => 'captured'))
  expect(await sentBy(shop, ids)).toHaveLength(3)
})

test('a payer who cancels or moves the money first fails alone', async () => {
  const { shop, ids, payers, payments } = await openTill(5)
  const release = await hold()
  const results = captureAll(shop, ids)
  const sent = await inFlight(shop, ids)
  expect(sent.map(({ movements }) => movements.length)).toEqual([5])
  const [first, second] = payers
  const [payment] = payments
  if (!first || !second || !payment) throw new Error('no payer')
  const { to, data } = cancelCall({
    cancellation: await revoke(chain, payment, first),
  })
  for (const [account, call] of [
    [first, { to, data }],
    [second, { to: chain.token, data: transferAll() }],
  ] as const)
    await sendTransaction(
      createWalletClient({
        account,
        chain: chain.chain,
        transport: http(chain.urls.http),
      }),
      { ...call, ...earliest },
    )
  await release()
  await results
  const { orders } = await rowsOf(shop, ids)
  const stateOf = (id: string | undefined) => {
    const found = orders.find((one) => one.id === id)
    return [found?.state, found?.reason]
  }
  expect(ids.map(stateOf)).toEqual([
    ['canceled', undefined],
    ['stored', 'insufficientFunds'],
    ['captured', undefined],
    ['captured', undefined],
    ['captured', undefined],
  ])
  expect(await timesPaid(shop, ids)).toEqual([0, 0, 1, 1, 1])
})

test('in a pause of the token all payments of a transaction fail, and are captured after it', async () => {
  const { shop, ids } = await openTill(4)
  const release = await hold()
  const results = captureAll(shop, ids)
  const sent = await inFlight(shop, ids)
  expect(sent.map(({ movements }) => movements.length)).toEqual([4])
  const { public: client } = chain.clients
  const account = await readContract(client, {
    address: chain.token,
    abi: parseAbi(['function pauser() view returns (address)']),
    functionName: 'pauser',
  })
  await node.impersonateAccount({ address: account })
  await node.setBalance({ address: account, value: 10n ** 18n })
  const call = { to: chain.token, data: '0x8456cb59' } as const
  await sendTransaction(client, { ...call, account, chain: null, ...earliest })
  await release()
  expect(await results).toEqual(ids.map(() => 'rejected'))
  const { orders, transactions } = await rowsOf(shop, ids)
  expect(orders.map(({ state, reason }) => [state, reason])).toEqual(
    ids.map(() => ['stored', 'paused']),
  )
  expect(transactions.map(({ inFlight }) => inFlight)).toEqual([false])
  expect(await timesPaid(shop, ids)).toEqual([0, 0, 0, 0])
  await chain.pause(false)
  expect(await captureAll(shop, ids)).toEqual(ids.map(() => 'captured'))
  expect(await timesPaid(shop, ids)).toEqual([1, 1, 1, 1])
})

test('of a transaction whose every payment was canceled first, none is paid', async () => {
  const { shop, ids, payers, payments } = await openTill(3)
  const release = await hold()
  const results = captureAll(shop, ids)
  await inFlight(shop, ids)
  const caller = await fundedAccount(chain)
  const wallet = createWalletClient({
    account: caller,
    chain: chain.chain,
    transport: http(chain.urls.http),
  })
  for (const [at, payment] of payments.entries()) {
    const cancellation = await revoke(chain, payment, payers[at])
    const { to, data } = cancelCall({ cancellation })
    await sendTransaction(wallet, { to, data, ...earliest, nonce: at })
  }
  await release()
  expect(await results).toEqual(ids.map(() => 'rejected'))
  const { orders, transactions, proofs } = await rowsOf(shop, ids)
  expect(orders.map(({ state }) => state)).toEqual(ids.map(() => 'canceled'))
  expect(transactions.map(({ inFlight }) => inFlight)).toEqual([false])
  expect(proofs.map(({ kind }) => kind)).toEqual(ids.map(() => 'cancel'))
  expect(shop.seen.map(({ name }) => name)).not.toContain('submitter.unbatched')
})

/** Moves 2 tokens to nobody in particular. */
function transferAll(): `0x${string}` {
  const to = '11'.repeat(20).padStart(64, '0')
  return `0xa9059cbb${to}${(2_000_000).toString(16).padStart(64, '0')}`
}

test('a transaction with many payments that no block takes is sent again with a higher fee, without those that cannot be captured any more', async () => {
  const { shop, ids, payers } = await openTill(4, { policy: { bumpAfter: 5 } })
  const release = await hold()
  const results = captureAll(shop, ids)
  await inFlight(shop, ids)
  await node.request({ method: 'anvil_dropAllTransactions' } as never)
  const { baseFeePerGas } = await chain.clients.public.getBlock()
  await node.setNextBlockBaseFeePerGas({
    baseFeePerGas: (baseFeePerGas ?? 1n) * 8n,
  })
  await node.setCode({
    address: payers[0]?.address ?? '0x',
    bytecode: `0xef0100${'22'.repeat(20)}`,
  })
  await expect
    .poll(
      async () => {
        await chain.warp(6)
        return (await sentBy(shop, ids)).some(({ bump }) => bump > 0)
      },
      { timeout: 30_000 },
    )
    .toBe(true)
  const sent = await sentBy(shop, ids)
  const kinds = sent.map(({ kind, movements }) => [kind, movements.length])
  expect(kinds.slice(0, 2)).toEqual([
    ['capture', 4],
    ['capture', 3],
  ])
  await release()
  await results
  expect((await timesPaid(shop, ids)).slice(1)).toEqual([1, 1, 1])
})

test('payers with code share no transaction', async () => {
  const { shop, ids, payers } = await openTill(4)
  const [contract] = payers
  // Delegated to an account without code (EIP-7702): has code all the same.
  await node.setCode({
    address: contract?.address ?? '0x',
    bytecode: `0xef0100${'22'.repeat(20)}`,
  })
  await captureAll(shop, ids)
  const sent = await sentBy(shop, ids)
  const carried = sent.find(({ movements }) =>
    movements.some(({ orderId }) => orderId === ids[0]),
  )
  expect(carried?.movements ?? [1]).toHaveLength(1)
  expect((await timesPaid(shop, ids)).slice(1)).toEqual([1, 1, 1])
})

test('a transaction that reverted as a whole is halved, and after two of them payments go alone, also in the next process', async () => {
  const store = memoryStore()
  const { shop, ids } = await openTill(8, { store })
  const release = await hold()
  const results = captureAll(shop, ids)
  await inFlight(shop, ids)
  const broken = {
    address: multicall.address,
    bytecode: '0x60006000fd',
  } as const
  await node.setCode(broken)
  onTestFinished(() => putMulticall(chain))
  await release()
  await results
  const sent = await sentBy(shop, ids)
  const sizes = sent
    .sort((one, other) => one.nonce - other.nonce)
    .map(({ movements }) => movements.length)
  expect(sizes.slice(0, 3)).toEqual([8, 4, 4])
  expect(sizes.slice(3)).toEqual(ids.map(() => 1))
  expect(await timesPaid(shop, ids)).toEqual(ids.map(() => 1))
  const said = shop.seen.filter(({ name }) => name === 'submitter.unbatched')
  expect(said).toHaveLength(1)

  await putMulticall(chain)
  await shop.engine.stop()
  const { account } = shop
  const next = openShop(chain, { account, store, seal: sealing })
  const later = await storeOrders(next, 3, {
    primaryType: 'TransferWithAuthorization',
  })
  expect(await captureAll(next, later)).toEqual(later.map(() => 'captured'))
  expect(await sentBy(next, later)).toHaveLength(3)
})

test('after a reorganization, a payment can have the place in the transaction that another one had', async () => {
  const { shop, ids, payers, payments } = await openTill(3)
  const stop = new AbortController()
  const { signal } = stop
  const running = runWorker(shop.context, shop.engine, { signal })
  onTestFinished(async () => {
    stop.abort()
    await running
  })
  const statesOf = async () => {
    const { orders } = await rowsOf(shop, ids)
    return ids.map((id) => orders.find((one) => one.id === id)?.state)
  }
  const release = await hold()
  const results = captureAll(shop, ids)
  await inFlight(shop, ids)
  await release()
  expect(await results).toEqual(ids.map(() => 'captured'))
  const [payer] = payers
  const [payment] = payments
  if (!payer || !payment) throw new Error('no payer')
  await node.setAutomine(false)
  await chain.reorg({ depth: 1, transactions: 'dropped' })
  const cancellation = await revoke(chain, payment, payer)
  const { to, data } = cancelCall({ cancellation })
  await sendTransaction(
    createWalletClient({
      account: payer,
      chain: chain.chain,
      transport: http(chain.urls.http),
    }),
    { to, data, ...earliest },
  )
  await node.mine({ blocks: 1 })
  await node.setAutomine(true)
  await expect
    .poll(
      async () => {
        await node.mine({ blocks: 1 })
        return statesOf()
      },
      { timeout: 30_000 },
    )
    .toEqual(['canceled', 'captured', 'captured'])
  expect(await timesPaid(shop, ids)).toEqual([0, 1, 1])
  const { proofs } = await rowsOf(shop, ids)
  const standing = proofs.filter(({ removed }) => !removed)
  expect(standing.map(({ kind }) => kind).sort()).toEqual([
    'cancel',
    'capture',
    'capture',
  ])
  const displaced = proofs.filter(({ logIndex }) => logIndex < 0)
  expect(displaced.length).toBeGreaterThan(0)
  expect(displaced.every(({ removed }) => removed)).toBe(true)
})
