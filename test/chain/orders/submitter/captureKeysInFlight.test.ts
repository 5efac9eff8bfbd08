import {
  delegateSubmitter,
  getCaptureKey,
  revokeCaptureKey,
} from 'countersign/batches'
import { memoryStore } from 'countersign/store'
import type { Hex } from 'viem'
import {
  getTransaction,
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

/** The key has sent captures, and its process has ended. No block has them. */
async function sendBy(
  key: Key,
  { count, sent = count }: { count: number; sent?: number },
): Promise<{ ids: string[]; given: Given }> {
  const given = { store: memoryStore(), policy }
  const shop = await sell([key.wallet], given)
  const ids = await store(shop, count)
  await node.setAutomine(false)
  onTestFinished(() => node.setAutomine(true))
  const before = await countOf([key])
  const capturing = captureAll(shop, ids).catch(() => undefined)
  const pending = () => countPending([key])
  await expect.poll(pending, { timeout: 20_000 }).toBe(before + sent)
  await shop.orders.close()
  await capturing
  return { ids, given }
}

/** The pool loses what the key had sent. Returns its bytes. */
async function drop(key: Key, { store }: Given): Promise<Hex[]> {
  const account = key.account.address.toLowerCase() as Hex
  const inFlight = { chainId: 31337, account }
  const rows = await store?.read(({ transactions }) =>
    transactions.find({ inFlight }),
  )
  const sent = rows ?? []
  for (const { hash } of sent) if (hash) await node.dropTransaction({ hash })
  await node.setAutomine(true)
  return sent.flatMap(({ raw }) => (raw ?? []) as Hex)
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

test.each(['revoked', 'expired'])(
  'what a key had sent, and the node lost, is captured by another once the first is %s',
  async (how) => {
    const { timestamp } = await reader.getBlock()
    const end = how === 'expired' ? timestamp + 100n : undefined
    const { treasury, first, second, wallets } = await openTwo(end)
    const { ids, given } = await sendBy(first, { count: 3 })
    await drop(first, given)
    await setGas(first, 0n)
    if (how === 'expired') await chain.warp(100)
    else await revoke(treasury, first)
    const shop = await sell(wallets, given)
    work(shop)
    const states = await captureAll(shop, ids, 20_000)
    expect(states).toEqual(ids.map(() => 'captured'))
    expect(await balanceOf(treasury.treasury.address)).toBe(37_500_000n)
    await expectSentBy(second, shop, ids)
  },
)

test('all payments of a transaction that a dead key had sent are captured by another', async () => {
  const { treasury, first, second, wallets } = await openTwo()
  await delegateSubmitter(walletOf(first.account))
  const { ids, given } = await sendBy(first, { count: 4, sent: 1 })
  await drop(first, given)
  await setGas(first, 0n)
  await revoke(treasury, first)
  const shop = await sell(wallets, given)
  work(shop)
  const states = await captureAll(shop, ids, 20_000)
  expect(states).toEqual(ids.map(() => 'captured'))
  await expectSentBy(second, shop, ids)
})

test('what a dead key sent through a wallet of its own is captured by another', async () => {
  const { treasury, first, second, wallets } = await openTwo()
  const { address } = first.account
  await node.impersonateAccount({ address })
  const remote = { ...first.wallet, client: walletOf(address) }
  const sender = { ...first, wallet: remote }
  const { ids, given } = await sendBy(sender, { count: 1 })
  await drop(sender, given)
  await setGas(first, 0n)
  await revoke(treasury, first)
  const shop = await sell([remote, ...wallets.slice(1)], given)
  work(shop)
  expect(await captureAll(shop, ids, 20_000)).toEqual(['captured'])
  await expectSentBy(second, shop, ids)
})

test('what a thief of a key put another transaction in the place of is captured by another key', async () => {
  const { treasury, first, second, wallets } = await openTwo()
  const { ids, given } = await sendBy(first, { count: 1 })
  const nonce = await countOf([first])
  await sendTransaction(walletOf(first.account), {
    account: first.account,
    chain: chain.chain,
    to: relayer.account.address,
    value: 5n * 10n ** 17n,
    nonce,
    ...dear,
  })
  await node.mine({ blocks: 1 })
  await node.setAutomine(true)
  await revoke(treasury, first)
  const shop = await sell(wallets, given)
  work(shop)
  expect(await captureAll(shop, ids, 20_000)).toEqual(['captured'])
  await expectSentBy(second, shop, ids)
  expect(await eventsOf(shop, ids[0] ?? '')).toContain('submitterShared')
})

test('an order that was voided while a dead key had it in flight is not captured', async () => {
  const { treasury, first, wallets } = await openTwo()
  const { ids, given } = await sendBy(first, { count: 1 })
  const [orderId = ''] = ids
  await drop(first, given)
  await setGas(first, 0n)
  const shop = await sell(wallets, given)
  await shop.orders.void({ orderId })
  await revoke(treasury, first)
  work(shop)
  const state = async () => (await shop.orders.get({ orderId })).state
  await expect.poll(state, { timeout: 20_000 }).toBe('voided')
  await shop.orders.close()
  expect(await balanceOf(treasury.treasury.address)).toBe(0n)
})

test('what is mined after it was let go changes nothing', async () => {
  const { treasury, first, wallets } = await openTwo()
  const { ids, given } = await sendBy(first, { count: 1 })
  const [raw] = await drop(first, given)
  if (!raw) throw new Error('no bytes')
  await setGas(first, 0n)
  await revoke(treasury, first)
  const shop = await sell(wallets, given)
  work(shop)
  expect(await captureAll(shop, ids, 20_000)).toEqual(['captured'])
  const [id = ''] = ids
  const before = await eventsOf(shop, id)
  await setGas(first, 10n ** 18n)
  await sendRawTransaction(reader, { serializedTransaction: raw })
  await node.mine({ blocks: 2 })
  expect(await countOf([first])).toBe(1)
  expect(await captureAll(shop, ids)).toEqual(['captured'])
  expect(await eventsOf(shop, id)).toEqual(before)
  expect(await balanceOf(treasury.treasury.address)).toBe(12_500_000n)
})

test.each(['first', 'second'])(
  'if the node was wrong about a revocation, the capture of the %s key pays once',
  async (winner) => {
    const { treasury, first, second, wallets } = await openTwo()
    const { ids, given } = await sendBy(first, { count: 1 })
    const { hash } = await getCaptureKey(reader, {
      permission: first.wallet.permission,
    })
    const client = nodeThat(first.account, async (method, [call]) =>
      method === 'eth_call' &&
      Object(call).data === `0x2d40d052${hash.slice(2)}`
        ? { answer: `0x${'1'.padStart(64, '0')}` }
        : undefined,
    )
    const shop = await sell(wallets, { ...given, client })
    work(shop)
    const capturing = captureAll(shop, ids, 30_000)
    await expect.poll(() => countPending([second]), { timeout: 20_000 }).toBe(1)
    if (winner === 'second') await drop(first, given)
    else await node.mine({ blocks: 1 })
    await node.setAutomine(true)
    expect(await capturing).toEqual(['captured'])
    expect(await balanceOf(treasury.treasury.address)).toBe(12_500_000n)
  },
)

test('a key that gets another permission goes on behind what was let go', async () => {
  const { treasury, first, wallets } = await openTwo()
  const { ids, given } = await sendBy(first, { count: 3 })
  await drop(first, given)
  await setGas(first, 0n)
  await revoke(treasury, first)
  const shop = await sell(wallets, given)
  work(shop)
  const states = await captureAll(shop, ids, 20_000)
  expect(states).toEqual(ids.map(() => 'captured'))
  await shop.orders.close()
  await setGas(first, 10n ** 18n)
  const { wallet } = await renew(treasury, first)
  const again = await sell([wallet], given)
  const others = await store(again, 2)
  work(again)
  expect(await captureAll(again, others, 20_000)).toEqual([
    'captured',
    'captured',
  ])
  expect(await countOf([first])).toBe(5)
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
