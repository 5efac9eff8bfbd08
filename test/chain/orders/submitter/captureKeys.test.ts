import { delegateSubmitter, revokeCaptureKey } from 'countersign/batches'
import { checkout } from 'countersign/checkout'
import { memoryStore } from 'countersign/store'
import type { Hex } from 'viem'
import { getTransaction, getTransactionCount } from 'viem/actions'
import { afterEach, expect, onTestFinished, test } from 'vitest'
import {
  chain,
  node,
  nodeThat,
  openAccount,
  reader,
  walletOf,
} from '../../support/batchDesk.js'
import { balanceOf, manager, setPaused } from '../../support/captureKeyDesk.js'
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
  work,
} from '../../support/keyShop.js'
import { eventsOf } from '../../support/shop.js'

afterEach(() => setPaused(false))

test('keys side by side capture to a treasury that sends nothing', async () => {
  const { treasury, keys } = await openKeys(2)
  const { address } = treasury.treasury
  const before = await getTransactionCount(reader, { address })
  const shop = await sell(keys.map(({ wallet }) => wallet))
  const ids = await store(shop, 6)
  expect(await captureAll(shop, ids)).toEqual(ids.map(() => 'captured'))
  expect(await balanceOf(address)).toBe(75_000_000n)
  expect(await getTransactionCount(reader, { address })).toBe(before)
  const senders = new Set<string>()
  for (const id of ids) {
    const hash = await hashOf(shop, id)
    const { from, to } = await getTransaction(reader, { hash })
    expect(to).toBe(manager.toLowerCase())
    senders.add(from)
  }
  const accounts = keys.map(({ account }) => account.address.toLowerCase())
  expect([...senders].every((one) => accounts.includes(one))).toBe(true)
})

test('a Transfer payment goes without the permission', async () => {
  const { treasury, keys } = await openKeys(1)
  const shop = await sell(keys.map(({ wallet }) => wallet))
  const [id] = await store(shop, 1, 'TransferWithAuthorization')
  if (!id) throw new Error('no order')
  expect(await captureAll(shop, [id])).toEqual(['captured'])
  const hash = await hashOf(shop, id)
  const { to } = await getTransaction(reader, { hash })
  expect(to).toBe(chain.token.toLowerCase())
  expect(await balanceOf(treasury.treasury.address)).toBe(12_500_000n)
})

test('a key that is delegated itself captures many in one transaction', async () => {
  const { treasury, keys } = await openKeys(1)
  const [key] = keys
  if (!key) throw new Error('no key')
  await delegateSubmitter(walletOf(key.account))
  const shop = await sell([key.wallet])
  const ids = await store(shop, 5)
  expect(await captureAll(shop, ids)).toEqual(ids.map(() => 'captured'))
  const hashes = await Promise.all(ids.map((id) => hashOf(shop, id)))
  expect(new Set(hashes).size).toBeLessThan(4)
  expect(await balanceOf(treasury.treasury.address)).toBe(62_500_000n)
})

test('what a revoked key had is captured by another', async () => {
  const { treasury, keys } = await openKeys(2)
  const shop = await sell(keys.map(({ wallet }) => wallet))
  const ids = await store(shop, 8)
  const [{ wallet }] = keys as [Key, Key]
  const { permission } = wallet
  await revokeCaptureKey(treasury.wallet, { permission })
  work(shop)
  const states = await captureAll(shop, ids)
  expect(states).toEqual(ids.map(() => 'captured'))
  const { submitters } = await shop.orders.health()
  expect(submitters.map(({ faultKind }) => faultKind)).toEqual([
    'captureKey',
    undefined,
  ])
})

test('while the manager is paused payments wait, and are captured after it', async () => {
  const { keys } = await openKeys(1)
  const shop = await sell(keys.map(({ wallet }) => wallet))
  const ids = await store(shop, 3)
  await setPaused(true)
  work(shop)
  const [first] = await captureAll(shop, ids.slice(0, 1), 1_500)
  expect(first).not.toBe('captured')
  const { submitters } = await shop.orders.health()
  expect(submitters[0]).toMatchObject({
    faultKind: 'captureKey',
    fault: expect.stringContaining('is paused'),
  })
  const count = await countOf(keys)
  await setPaused(false)
  expect(await captureAll(shop, ids)).toEqual(ids.map(() => 'captured'))
  expect(await countOf(keys)).toBe(count + ids.length)
})

test('while the manager is paused the treasury itself captures, if it is there', async () => {
  const { treasury, keys } = await openKeys(1)
  const wallets = keys.map(({ wallet }) => wallet)
  const database = memoryStore()
  const hot = await sell(wallets, { store: database })
  const ids = await store(hot, 3)
  await setPaused(true)
  const both = await sell([...wallets, treasury.wallet], { store: database })
  work(both)
  expect(await captureAll(both, ids)).toEqual(ids.map(() => 'captured'))
  expect(await countOf(keys)).toBe(0)
})

test('a capture that reverts because the permission ended is no fault of the payment', async () => {
  const { treasury, keys } = await openKeys(1)
  const shop = await sell(keys.map(({ wallet }) => wallet))
  const [id] = await store(shop, 1)
  if (!id) throw new Error('no order')
  await node.setAutomine(false)
  onTestFinished(() => node.setAutomine(true))
  work(shop)
  const capturing = captureAll(shop, [id], 5_000)
  await expect.poll(() => countPending(keys), { timeout: 20_000 }).toBe(1)
  const [{ wallet }] = keys as [Key]
  const { permission } = wallet
  // The treasury pays more, so its transaction comes first.
  const maxPriorityFeePerGas = 50_000_000_000n
  const revoking = revokeCaptureKey(treasury.wallet, {
    permission,
    maxFeePerGas: 100_000_000_000n,
    maxPriorityFeePerGas,
  })
  await expect
    .poll(() => node.getTxpoolStatus().then(({ pending }) => pending))
    .toBe(2)
  await node.mine({ blocks: 1 })
  await node.setAutomine(true)
  await revoking
  expect(await capturing).toEqual(['unknown'])
  const order = await shop.orders.get({ orderId: id })
  expect(order).toMatchObject({ state: 'stored', needsReview: false })
  expect(Object(order).reason).toBeUndefined()
  expect(await eventsOf(shop, id)).not.toContain('captureRejected')
  const { wallet: renewed } = (await renew(treasury, keys[0] as Key)) as Key
  await shop.orders.close()
  const again = await sell([renewed], { store: shop.store })
  expect(await captureAll(again, [id])).toEqual(['captured'])
})

test('payments of a dead key keep no place from what it can still send', async () => {
  const { treasury, keys } = await openKeys(1)
  const shop = await sell(
    keys.map(({ wallet }) => wallet),
    { policy: { pollingInterval: 500, maxInFlight: 1 } },
  )
  const waiting = await store(shop, 12)
  const [id] = await store(shop, 1, 'TransferWithAuthorization')
  if (!id) throw new Error('no order')
  const [{ wallet }] = keys as [Key]
  const { permission } = wallet
  await revokeCaptureKey(treasury.wallet, { permission })
  await captureAll(shop, waiting, 1)
  work(shop)
  expect(await captureAll(shop, [id], 15_000)).toEqual(['captured'])
})

test('a node that is silent about a key holds up none of its Transfer payments', async () => {
  const { keys } = await openKeys(1)
  const [{ wallet, account }] = keys as [Key]
  let isSilent = false
  const client = nodeThat(account, async (method, [call]) => {
    const isPause = String(Object(call).data).startsWith('0x5c975abb')
    if (isSilent && method === 'eth_call' && isPause)
      await new Promise(() => undefined)
    return undefined
  })
  const policy = { pollingInterval: 40, lease: 3000 }
  const shop = await sell([{ ...wallet, client }], {
    client,
    policy,
  })
  const waiting = await store(shop, 4)
  const [id] = await store(shop, 1, 'TransferWithAuthorization')
  if (!id) throw new Error('no order')
  isSilent = true
  await captureAll(shop, waiting, 1)
  work(shop)
  expect(await captureAll(shop, [id], 20_000)).toEqual(['captured'])
})

test('a key without gas refuses no buyer while another has some', async () => {
  const { keys } = await openKeys(2)
  const [{ account }] = keys as [Key]
  const shop = await sell(keys.map(({ wallet }) => wallet))
  await node.setBalance({ address: account.address, value: 0n })
  const ids = await store(shop, 8)
  expect(await captureAll(shop, ids)).toEqual(ids.map(() => 'captured'))
})

test('a removed key leaves its payments to the others', async () => {
  const { keys } = await openKeys(2)
  const database = memoryStore()
  const wallets = keys.map(({ wallet }) => wallet)
  const before = await sell(wallets, { store: database })
  const ids = await store(before, 8)
  await before.orders.close()
  const after = await sell(wallets.slice(1), { store: database })
  expect(await captureAll(after, ids)).toEqual(ids.map(() => 'captured'))
})

test('keys take no payments with a ceiling', async () => {
  const { keys } = await openKeys(1)
  const kinds = [checkout]
  const wallets = keys.map(({ wallet }) => wallet)
  const { orders } = await sell(wallets, { kinds })
  const { address: payer } = await openAccount()
  await expect(
    orders.draft({ atMost: '5', payer } as never),
  ).rejects.toMatchObject({
    name: 'InvalidFieldError',
    message: expect.stringContaining('Capture keys take no payments'),
  })
})

test('a permission must fit its wallet', async () => {
  const { treasury, keys } = await openKeys(2)
  const [{ wallet }, { wallet: other }] = keys as [Key, Key]
  const wrong: readonly [string, object][] = [
    ['wallets[0].permission', { capturesFor: chain.token }],
    ['wallets[0].permission', { permission: other.permission }],
    ['wallets[0].permission', { permission: '0x' }],
    ['wallets[0].permission', { permission: undefined }],
    ['wallets[0].capturesFor', { capturesFor: 'treasury' }],
    ['wallets[0].capturesFor', { capturesFor: undefined }],
    ['wallets[0].client', { client: undefined }],
    ['wallets[0]', { expires: 1 }],
  ]
  for (const [field, change] of wrong)
    await expect(sell([{ ...wallet, ...change }])).rejects.toMatchObject({
      name: 'InvalidFieldError',
      details: { field },
    })
  const token = treasury.treasury.address
  await expect(sell([wallet], { tokens: [token] })).rejects.toMatchObject({
    details: {
      field: 'wallets[0].permission',
      expected: `a permission for the token ${token.toLowerCase()}`,
    },
  })
})

test('a permission that another account signed stops the shop before it sells', async () => {
  const { keys } = await openKeys(1)
  const [{ wallet }] = keys as [Key]
  const { permission } = wallet
  const forged: Hex = `${permission.slice(0, -190) as Hex}77${permission.slice(-188)}`
  const { orders } = await sell([{ ...wallet, permission: forged }])
  const error = await orders.draft({ amount: '1' }).catch(String)
  expect(error).toContain('wallets[0].permission must be a permission that')
  expect(error).not.toContain(permission.slice(-160, -100))
})
