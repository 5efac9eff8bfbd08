import type { SignedPayment } from 'countersign'
import {
  deployDevContract,
  deployDevToken,
  devContracts,
  startDevChain,
} from 'countersign/devchain'
import { type Address, type Hex, toHex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { getContractEvents } from 'viem/actions'
import { afterAll, expect, test } from 'vitest'
import { fundedAccount, newAccount } from '../../chain/support/desk.js'
import { delegate } from '../../chain/support/families.js'
import {
  eventsOf,
  openShop,
  pay,
  type Shop,
  storedOrder,
} from '../../chain/support/shop.js'

const chain = await startDevChain({ blockTime: 0 })
const { test: control, public: reader } = chain.clients
afterAll(() => chain.stop())

const price = 12_500_000n

const sentBy = ({ seller }: Shop) =>
  reader.getTransactionCount({ address: seller, blockTag: 'pending' })

/** How often this payment used up its nonce. */
async function timesUsed({ domain, message }: SignedPayment): Promise<number> {
  const logs = await getContractEvents(reader, {
    address: domain.verifyingContract,
    abi: devContracts.fiatTokenV2_2.abi,
    eventName: 'AuthorizationUsed',
    args: { authorizer: message.from, nonce: message.nonce },
    fromBlock: 0n,
  })
  return logs.length
}

/** An order paid for in the name of a contract wallet. */
async function soldTo(
  { orders }: Shop,
  from: Address,
  owner: PrivateKeyAccount,
): Promise<{ id: string; signed: SignedPayment; verdict: unknown }> {
  await chain.mint({ to: from, value: price })
  const { order, payment } = await orders.draft({ amount: '12.50' })
  const signed = await pay(owner, payment, { from })
  const verdict = await orders.accept({ orderId: order.id, payment: signed })
  return { id: order.id, signed, verdict }
}

test('a payer whose account took on code that refuses is not captured, and pays nothing', async () => {
  const shop = await openShop(chain)
  const { id, buyer, signed } = await storedOrder(chain, shop)
  await delegate(chain, buyer.address, devContracts.strictDelegate)
  expect(await shop.orders.capture({ orderId: id })).toMatchObject({
    status: 'rejected',
    reason: 'walletRejects',
    order: { state: 'stored', needsReview: false },
  })
  expect(await sentBy(shop)).toBe(0)
  // Without the code the key counts again.
  await control.setCode({ address: buyer.address, bytecode: '0x' })
  expect(await shop.orders.capture({ orderId: id })).toMatchObject({
    status: 'captured',
  })
  expect(await timesUsed(signed)).toBe(1)
})

test('a payer whose account took on code that agrees is captured', async () => {
  const shop = await openShop(chain)
  const { id, buyer, signed } = await storedOrder(chain, shop)
  await delegate(chain, buyer.address, devContracts.permissiveDelegate)
  expect(await shop.orders.capture({ orderId: id })).toMatchObject({
    status: 'captured',
  })
  expect(await timesUsed(signed)).toBe(1)
})

test('a payer whose account took on code is not captured where contracts are refused', async () => {
  const contractPayers = 'refuse'
  const shop = await openShop(chain, { policy: { contractPayers } })
  const { id, buyer, signed } = await storedOrder(chain, shop)
  await delegate(chain, buyer.address, devContracts.permissiveDelegate)
  expect(await shop.orders.capture({ orderId: id })).toMatchObject({
    status: 'rejected',
    reason: 'contractPayer',
    order: { state: 'stored', needsReview: false },
  })
  expect(await sentBy(shop)).toBe(0)
  await control.setCode({ address: buyer.address, bytecode: '0x' })
  expect(await shop.orders.capture({ orderId: id })).toMatchObject({
    status: 'captured',
  })
  expect(await timesUsed(signed)).toBe(1)
})

test('a payer whose code changed after signing is judged by the code it has', async () => {
  const shop = await openShop(chain)
  const owner = await fundedAccount(chain)
  const contract = devContracts.strictWallet
  const from = await deployDevContract(chain, {
    contract,
    args: [owner.address],
  })
  const { id, signed, verdict } = await soldTo(shop, from, owner)
  expect(verdict).toMatchObject({ ok: true })
  const bytecode = devContracts.strictDelegate.deployedBytecode
  await control.setCode({ address: from, bytecode })
  expect(await shop.orders.capture({ orderId: id })).toMatchObject({
    status: 'rejected',
    reason: 'walletRejects',
  })
  expect(await timesUsed(signed)).toBe(0)
  expect(await sentBy(shop)).toBe(0)
})

test('a wallet that agrees in a rehearsal and burns gas in a block is never accepted', async () => {
  const shop = await openShop(chain)
  const owner = newAccount()
  const from = await deployDevContract(chain, {
    contract: devContracts.lyingWallet,
    args: [owner.address],
  })
  const { signed, verdict } = await soldTo(shop, from, owner)
  expect(verdict).toMatchObject({ ok: false, reason: 'gasTooHigh' })
  expect(await timesUsed(signed)).toBe(0)
  expect(await sentBy(shop)).toBe(0)
})

test('a wallet that turned liar after it was accepted costs no gas', async () => {
  const shop = await openShop(chain)
  const owner = newAccount()
  const args = [owner.address]
  const { strictWallet, lyingWallet } = devContracts
  const from = await deployDevContract(chain, { contract: strictWallet, args })
  const liar = await deployDevContract(chain, { contract: lyingWallet, args })
  const { id, signed, verdict } = await soldTo(shop, from, owner)
  expect(verdict).toMatchObject({ ok: true })
  const bytecode = (await reader.getCode({ address: liar })) ?? '0x'
  await control.setCode({ address: from, bytecode })
  expect(await shop.orders.capture({ orderId: id })).toMatchObject({
    status: 'rejected',
    reason: 'gasTooHigh',
  })
  expect(await timesUsed(signed)).toBe(0)
  expect(await sentBy(shop)).toBe(0)
})

/** Gives a token of version 2.2 another name, as an upgrade may. */
async function rename(token: Address, name: string): Promise<void> {
  const text = Buffer.from(name)
  const value: Hex = `0x${text.toString('hex').padEnd(62, '0')}${toHex(text.length * 2, { size: 1 }).slice(2)}`
  for (let slot = 0; slot < 12; slot++) {
    const index = toHex(slot)
    const at = { address: token, slot: toHex(slot, { size: 32 }) }
    const before = (await reader.getStorageAt(at)) ?? '0x'
    if (!before.startsWith(toHex('USD Coin'))) continue
    await control.setStorageAt({ address: token, index: Number(index), value })
  }
}

test('a token that is renamed between draft and accept takes no payment of its old name', async () => {
  const token = await deployDevToken(chain)
  const shop = await openShop(chain, { tokens: [token] })
  const { orders } = shop
  const buyer = await fundedAccount(chain)
  await chain.mint({ to: buyer.address, value: price, token })
  const drafted = await orders.draft({ token, amount: '12.50' })
  const signed = await pay(buyer, drafted.payment)
  await rename(token, 'USDC')
  const orderId = drafted.order.id
  expect(await orders.accept({ orderId, payment: signed })).toMatchObject({
    ok: false,
    reason: 'wrongDomain',
  })
  // Whoever signs what the token is called now has not signed the draft.
  const domain = { ...drafted.payment.domain, name: 'USDC' }
  const anew = await pay(buyer, { ...drafted.payment, domain })
  expect(await orders.accept({ orderId, payment: anew })).toMatchObject({
    ok: false,
    reason: 'wrongDomain',
  })
  // A new draft is of the new name, and settles.
  const next = await orders.draft({ token, amount: '12.50' })
  expect(next.payment.domain.name).toBe('USDC')
  const payment = await pay(buyer, next.payment)
  expect(
    await orders.accept({ orderId: next.order.id, payment }),
  ).toMatchObject({ ok: true })
  expect(await orders.capture({ orderId: next.order.id })).toMatchObject({
    status: 'captured',
  })
})

test('a token that is renamed between accept and capture sends nothing', async () => {
  const token = await deployDevToken(chain)
  const shop = await openShop(chain, { tokens: [token] })
  const { orders } = shop
  const buyer = await fundedAccount(chain)
  await chain.mint({ to: buyer.address, value: price, token })
  const { order, payment } = await orders.draft({ token, amount: '12.50' })
  const orderId = order.id
  const signed = await pay(buyer, payment)
  await orders.accept({ orderId, payment: signed })
  await rename(token, 'USDC')
  const result = await orders.capture({ orderId })
  expect(result).toMatchObject({
    status: 'rejected',
    reason: 'wrongDomain',
    order: { state: 'stored' },
  })
  expect(await eventsOf(shop, orderId)).toEqual([
    'drafted',
    'accepted',
    'captureRequested',
    'captureRejected',
  ])
  expect(await timesUsed(signed)).toBe(0)
  expect(await sentBy(shop)).toBe(0)
})

test('18 decimals are captured to the last unit, and six of them are another amount', async () => {
  const token = await deployDevToken(chain, { decimals: 18 })
  const shop = await openShop(chain, { tokens: [token] })
  const { orders } = shop
  const buyer = await fundedAccount(chain)
  const value = 12_500_000_000_000_000_001n
  await chain.mint({ to: buyer.address, value, token })
  const amount = '12.500000000000000001'
  const { order, payment } = await orders.draft({ token, amount })
  const orderId = order.id
  const cheap = await pay(buyer, payment, { value: price })
  expect(await orders.accept({ orderId, payment: cheap })).toMatchObject({
    ok: false,
    reason: 'wrongAmount',
  })
  const signed = await pay(buyer, payment)
  await orders.accept({ orderId, payment: signed })
  expect(await orders.capture({ orderId })).toMatchObject({
    status: 'captured',
    order: { value, amount },
  })
  await orders.reconcile()
  expect(await orders.audit()).toMatchObject({ ok: true })
})
