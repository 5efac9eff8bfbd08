import {
  delegateSubmitter,
  getCaptureKey,
  revokeCaptureKey,
} from 'countersign/batches'
import { memoryStore, type TransactionRecord } from 'countersign/store'
import type { Hex } from 'viem'
import {
  getTransaction,
  getTransactionReceipt,
  sendRawTransaction,
  sendTransaction,
} from 'viem/actions'
import { expect, onTestFinished, test } from 'vitest'
import {
  chain,
  node,
  nodeThat,
  reader,
  relayer,
  walletOf,
} from '../../support/batchDesk.js'
import { balanceOf } from '../../support/captureKeyDesk.js'
import {
  captureAll,
  countOf,
  countPending,
  hashOf,
  type Key,
  openKeys,
  renew,
  sell,
  store,
  type Treasury,
  work,
} from '../../support/keyShop.js'
import { eventsOf, type Shop } from '../../support/shop.js'

type Given = NonNullable<Parameters<typeof sell>[1]>

const policy = { pollingInterval: 40, quietInterval: 40, bumpAfter: 1 }

type Sent = { ids: string[]; next: string; given: Given }

/**
 * The key has sent captures, and its process has ended. No block has them. The
 * `next` order of the key is not requested yet.
 */
async function sendBy(
  key: Key,
  { count, sent = count }: { count: number; sent?: number },
): Promise<Sent> {
  const given = { store: memoryStore(), policy }
  const shop = await sell([key.wallet], given)
  const ids = await store(shop, count)
  const [next = ''] = await store(shop, 1)
  await node.setAutomine(false)
  onTestFinished(() => node.setAutomine(true))
  const before = await countOf([key])
  const capturing = captureAll(shop, ids).catch(() => undefined)
  const pending = () => countPending([key])
  await expect.poll(pending, { timeout: 20_000 }).toBe(before + sent)
  await shop.orders.close()
  await capturing
  return { ids, next, given }
}

async function inFlightOf(
  { account: { address } }: Key,
  { store }: Given,
): Promise<readonly TransactionRecord[]> {
  const inFlight = { chainId: 31337, account: address.toLowerCase() as Hex }
  const rows = await store?.read(({ transactions }) =>
    transactions.find({ inFlight }),
  )
  return rows ?? []
}

/** The pool loses what the key had sent. Returns its bytes. */
async function drop(key: Key, given: Given): Promise<Hex[]> {
  const rows = await inFlightOf(key, given)
  for (const { hash } of rows) if (hash) await node.dropTransaction({ hash })
  await node.setAutomine(true)
  // A shop without a sealer keeps them behind a word.
  return rows.flatMap(({ raw }) => (raw?.split(' ').at(-1) ?? []) as Hex)
}

const setGas = ({ account: { address } }: Key, value: bigint): Promise<void> =>
  node.setBalance({ address, value })

const revoke = (
  { wallet }: Treasury,
  { wallet: { permission } }: Key,
  fees: { maxFeePerGas?: bigint; maxPriorityFeePerGas?: bigint } = {},
): Promise<unknown> => revokeCaptureKey(wallet, { permission, ...fees })

const dear = {
  maxFeePerGas: 100_000_000_000n,
  maxPriorityFeePerGas: 50_000_000_000n,
}

/** A process of the key alone finds that it is dead, and lets all orders go. */
async function letGo(
  { wallet }: Key,
  { ids, next, given }: Sent,
  { tick, ...more }: Given & { tick?: () => Promise<unknown> } = {},
): Promise<void> {
  const shop = await sell([wallet], { ...given, ...more })
  work(shop)
  await captureAll(shop, [next], 1)
  const states = async () => {
    await tick?.()
    const got = ids.map((orderId) => shop.orders.get({ orderId }))
    return (await Promise.all(got)).map(({ state }) => state)
  }
  await expect
    .poll(states, { timeout: 20_000 })
    .toEqual(ids.map(() => 'stored'))
  await shop.orders.close()
}

async function expectSentBy(
  { account }: Key,
  shop: Shop,
  ids: readonly string[],
): Promise<void> {
  for (const id of ids) {
    const hash = await hashOf(shop, id)
    const { from } = await getTransaction(reader, { hash })
    expect(from).toBe(account.address.toLowerCase())
  }
}

const openTwo = async (validBefore?: bigint) => {
  const { treasury, keys } = await openKeys(2, validBefore)
  const [first, second] = keys as [Key, Key]
  const wallets = [first.wallet, second.wallet]
  return { treasury, first, second, wallets }
}

test('what a revoked key had sent, and the node lost, is captured by another key beside it', async () => {
  const { treasury, first, second, wallets } = await openTwo()
  const { ids, given } = await sendBy(first, { count: 3 })
  await drop(first, given)
  await setGas(first, 0n)
  await revoke(treasury, first)
  const shop = await sell(wallets, given)
  work(shop)
  expect(await captureAll(shop, ids)).toEqual(ids.map(() => 'captured'))
  expect(await balanceOf(treasury.treasury.address)).toBe(37_500_000n)
  await expectSentBy(second, shop, ids)
})

test('what a key had sent, and the node lost, is let go once its permission has expired', async () => {
  const { timestamp } = await reader.getBlock()
  const { treasury, first, second, wallets } = await openTwo(timestamp + 100n)
  const sent = await sendBy(first, { count: 2 })
  await drop(first, sent.given)
  await setGas(first, 0n)
  await chain.warp(100)
  await letGo(first, sent)
  const shop = await sell(wallets, sent.given)
  work(shop)
  const ids = [...sent.ids, sent.next]
  expect(await captureAll(shop, ids)).toEqual(ids.map(() => 'captured'))
  expect(await balanceOf(treasury.treasury.address)).toBe(37_500_000n)
  await expectSentBy(second, shop, ids)
})

test('all payments of a transaction that a dead key had sent are captured by another', async () => {
  const { treasury, first, second, wallets } = await openTwo()
  await delegateSubmitter(walletOf(first.account))
  const sent = await sendBy(first, { count: 4, sent: 1 })
  await drop(first, sent.given)
  await setGas(first, 0n)
  await revoke(treasury, first)
  // A delegated account has one transaction in flight, so nothing else is due:
  // it learns of the revocation when it raises the fee.
  await letGo(first, sent, { tick: () => chain.warp(2) })
  const shop = await sell(wallets, sent.given)
  work(shop)
  const states = await captureAll(shop, sent.ids)
  expect(states).toEqual(sent.ids.map(() => 'captured'))
  await expectSentBy(second, shop, sent.ids)
})

test('what a dead key sent through a wallet of its own is captured by another', async () => {
  const { treasury, first, second } = await openTwo()
  const { address } = first.account
  await node.impersonateAccount({ address })
  const remote = { ...first.wallet, client: walletOf(address) }
  const sender = { ...first, wallet: remote }
  const sent = await sendBy(sender, { count: 1 })
  await drop(sender, sent.given)
  await setGas(first, 0n)
  await revoke(treasury, first)
  await letGo(sender, sent)
  const shop = await sell([remote, second.wallet], sent.given)
  work(shop)
  expect(await captureAll(shop, sent.ids)).toEqual(['captured'])
  await expectSentBy(second, shop, sent.ids)
})

test('if a thief used the account nonce of a capture, another key makes it', async () => {
  const { treasury, first, second, wallets } = await openTwo()
  const sent = await sendBy(first, { count: 1 })
  await sendTransaction(walletOf(first.account), {
    account: first.account,
    chain: chain.chain,
    to: relayer.account.address,
    value: 5n * 10n ** 17n,
    nonce: await countOf([first]),
    ...dear,
  })
  await node.mine({ blocks: 1 })
  await node.setAutomine(true)
  await revoke(treasury, first)
  await letGo(first, sent)
  const shop = await sell(wallets, sent.given)
  work(shop)
  expect(await captureAll(shop, sent.ids)).toEqual(['captured'])
  await expectSentBy(second, shop, sent.ids)
  expect(await eventsOf(shop, sent.ids[0] ?? '')).toContain('submitterShared')
})

test('an order that was voided while a dead key had it in flight is not captured', async () => {
  const { treasury, first, wallets } = await openTwo()
  const { ids, next, given } = await sendBy(first, { count: 1 })
  const [orderId = ''] = ids
  await drop(first, given)
  await setGas(first, 0n)
  const shop = await sell(wallets, given)
  await shop.orders.void({ orderId })
  await revoke(treasury, first)
  work(shop)
  await captureAll(shop, [next], 1)
  const state = async () => (await shop.orders.get({ orderId })).state
  await expect.poll(state, { timeout: 20_000 }).toBe('voided')
  expect(await captureAll(shop, [next])).toEqual(['captured'])
  expect(await balanceOf(treasury.treasury.address)).toBe(12_500_000n)
})

test('what is mined after it was let go changes nothing', async () => {
  const { treasury, first, wallets } = await openTwo()
  const sent = await sendBy(first, { count: 1 })
  const [raw = '0x'] = await drop(first, sent.given)
  await setGas(first, 0n)
  await revoke(treasury, first)
  await letGo(first, sent)
  const shop = await sell(wallets, sent.given)
  work(shop)
  expect(await captureAll(shop, sent.ids)).toEqual(['captured'])
  const [id = ''] = sent.ids
  const before = await eventsOf(shop, id)
  await setGas(first, 10n ** 18n)
  const hash = await sendRawTransaction(reader, { serializedTransaction: raw })
  await node.mine({ blocks: 2 })
  const { status } = await getTransactionReceipt(reader, { hash })
  expect(status).toBe('reverted')
  expect(await captureAll(shop, sent.ids)).toEqual(['captured'])
  expect(await eventsOf(shop, id)).toEqual(before)
})

test('if the node was wrong about a revocation, a payment that was let go is captured once', async () => {
  const { treasury, first, second, wallets } = await openTwo()
  const sent = await sendBy(first, { count: 1 })
  const { permission } = first.wallet
  const { hash } = await getCaptureKey(reader, { permission })
  const client = nodeThat(first.account, async (method, [call]) =>
    method === 'eth_call' && Object(call).data === `0x2d40d052${hash.slice(2)}`
      ? { answer: `0x${'1'.padStart(64, '0')}` }
      : undefined,
  )
  await letGo(first, sent, { client })
  const shop = await sell(wallets, { ...sent.given, client })
  work(shop)
  const capturing = captureAll(shop, sent.ids)
  const pending = () => countPending([second])
  await expect.poll(pending, { timeout: 20_000 }).toBeGreaterThan(0)
  await node.mine({ blocks: 1 })
  await node.setAutomine(true)
  expect(await capturing).toEqual(['captured'])
  expect(await captureAll(shop, [sent.next])).toEqual(['captured'])
  expect(await balanceOf(treasury.treasury.address)).toBe(25_000_000n)
})

test('a key that gets another permission goes on where it has let go', async () => {
  const { treasury, first } = await openTwo()
  const { ids, given } = await sendBy(first, { count: 3 })
  await drop(first, given)
  await setGas(first, 0n)
  await revoke(treasury, first)
  const alone = await sell([first.wallet], given)
  work(alone)
  // Nothing is due, so it learns of the revocation when it raises the fee.
  const isFree = async () => {
    await chain.warp(2)
    return inFlightOf(first, given)
  }
  await expect.poll(isFree, { timeout: 20_000 }).toEqual([])
  await alone.orders.close()
  await setGas(first, 10n ** 18n)
  const { wallet } = await renew(treasury, first)
  const shop = await sell([wallet], given)
  work(shop)
  expect(await captureAll(shop, ids)).toEqual(ids.map(() => 'captured'))
  expect(await countOf([first])).toBe(6)
})

test('a capture that reverts is judged by the permission that it used', async () => {
  const { treasury, first } = await openTwo()
  const { ids, given } = await sendBy(first, { count: 1 })
  const [orderId = ''] = ids
  const revoking = revoke(treasury, first, dear)
  const pool = () => node.getTxpoolStatus().then(({ pending }) => pending)
  await expect.poll(pool).toBe(2)
  await node.mine({ blocks: 1 })
  await node.setAutomine(true)
  await revoking
  expect(await countOf([first])).toBe(1)
  const { wallet } = await renew(treasury, first)
  const shop = await sell([wallet], given)
  work(shop)
  expect(await captureAll(shop, ids, 20_000)).toEqual(['captured'])
  expect(await eventsOf(shop, orderId)).not.toContain('captureRejected')
  const { needsReview } = await shop.orders.get({ orderId })
  expect(needsReview).toBe(false)
})
