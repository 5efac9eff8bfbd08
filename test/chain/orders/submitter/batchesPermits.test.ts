import { delegateSubmitter } from 'countersign/batches'
import { createReadClient } from 'countersign/reads'
import type { Address } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { getTransactionReceipt } from 'viem/actions'
import { beforeAll, expect, test } from 'vitest'
import { multicall } from '../../../../src/core/knownDelegates.js'
import { putBatches } from '../../../../src/devchain/putBatches.js'
import { contextOf } from '../../../../src/orders/contextOf.js'
import type { CeilingShop } from '../../support/ceilingShop.js'
import {
  balanceOf,
  chain,
  merchant,
  newAddress,
  node,
  send,
} from '../../support/checkoutDesk.js'
import { frontRun, mineSent } from '../../support/frontRun.js'
import {
  deployToken,
  permitPayer,
  recipient,
  token,
} from '../../support/permitDesk.js'
import {
  cancelPermitCall,
  openPermitShop,
  storedPermit,
} from '../../support/permitShop.js'

const url = chain.urls.http
const client = createReadClient({ chain: chain.chain, url })
const other = await deployToken('PermitToken')

beforeAll(async () => {
  await putBatches(chain.clients)
  await delegateSubmitter(merchant)
})

/** What is on record about the transactions of these orders. */
const transactionsOf = ({ orders }: CeilingShop, orderIds: string[]) =>
  contextOf(orders).context.store.read((tables) =>
    tables.transactions.find({ orderIds }),
  )

const sizesOf = async (shop: CeilingShop, orderIds: string[]) =>
  (await transactionsOf(shop, orderIds))
    .map(({ movements }) => movements.length)
    .sort()

async function storeAll(shop: CeilingShop, payers: PrivateKeyAccount[]) {
  const stored: Awaited<ReturnType<typeof storedPermit>>[] = []
  for (const payer of payers) stored.push(await storedPermit(shop, payer))
  return { ids: stored.map(({ id }) => id), stored }
}

const captureEach = (shop: CeilingShop, ids: string[]) =>
  Promise.all(
    ids.map((orderId) => shop.orders.capture({ orderId, amount: '2' })),
  )

const payersOf = (count: number) =>
  Promise.all(Array.from({ length: count }, () => permitPayer()))

test('permits share a transaction of a delegated operator, and their shares of the gas add up', async () => {
  const shop = await openPermitShop()
  const { ids } = await storeAll(shop, await payersOf(4))
  const before = await balanceOf(recipient, token)
  const results = await captureEach(shop, ids)
  expect(results.map(({ status }) => status)).toEqual(ids.map(() => 'captured'))
  expect(await balanceOf(recipient, token)).toBe(before + 8_000_000n)
  expect(await sizesOf(shop, ids)).toEqual([4])
  const [{ hash = '0x' } = {}] = await transactionsOf(shop, ids)
  const { gasUsed } = await getTransactionReceipt(client, { hash })
  const { store } = contextOf(shop.orders).context
  const proofs = await store.read((tables) =>
    tables.proofs.find({ orderIds: ids }),
  )
  expect(proofs.map(({ value }) => value)).toEqual(ids.map(() => 2_000_000n))
  expect(new Set(proofs.map(({ logIndex }) => logIndex)).size).toBe(4)
  expect(proofs.reduce((sum, one) => sum + one.gasUsed, 0n)).toBe(gasUsed)
})

test('a payer who ends the permit first fails alone, at once, though no log and no final block shows the end', async () => {
  const shop = await openPermitShop()
  const payers = await payersOf(3)
  const { ids, stored } = await storeAll(shop, payers)
  const [payer] = payers
  const [first] = stored
  if (!payer || !first) throw new Error('no payer')
  const { signature: _, ...unsigned } = first.payment
  const call = await cancelPermitCall(payer, unsigned)
  const { working } = await frontRun(chain, call, () => captureEach(shop, ids))
  await mineSent(chain)
  expect(await working).toMatchObject([
    { status: 'rejected' },
    { status: 'captured' },
    { status: 'captured' },
  ])
  const transactions = await transactionsOf(shop, ids)
  expect(transactions.map(({ movements }) => movements.length)).toEqual([3])
  expect(transactions.map(({ inFlight }) => inFlight)).toEqual([false])
  expect(await balanceOf(payer.address, token)).toBe(100_000_000n)
})

test('of the permits of a payer, each is in another transaction', async () => {
  const shop = await openPermitShop({
    tokens: [token, other].map((one) => ({ client, token: one })),
  })
  const [one, two] = await payersOf(2)
  if (!one || !two) throw new Error('no payers')
  for (const { address } of [one, two])
    await send(newAddress(), { to: other, data: mintCall(address) })
  const ids: string[] = []
  for (const [payer, paid] of [
    [one, token],
    [one, other],
    [two, token],
    [two, other],
  ] as const)
    ids.push((await storedPermit(shop, payer, { token: paid })).id)
  const results = await captureEach(shop, ids)
  expect(results.map(({ status }) => status)).toEqual(ids.map(() => 'captured'))
  const transactions = await transactionsOf(shop, ids)
  const carried = transactions.map(({ movements }) =>
    movements.map(({ orderId }) => (ids.indexOf(orderId) < 2 ? 'one' : 'two')),
  )
  for (const payers of carried) expect(new Set(payers).size).toBe(payers.length)
  expect(carried.flat()).toHaveLength(4)
  expect(carried.length).toBeLessThan(4)
})

test('a plain operator captures permits one by one: the contract takes no other sender', async () => {
  await node.setCode({ address: recipient, bytecode: '0x' })
  const { public: reader } = chain.clients
  expect(await reader.getCode({ address: multicall.address })).toBeDefined()
  const shop = await openPermitShop()
  const { ids } = await storeAll(shop, await payersOf(3))
  const results = await captureEach(shop, ids)
  expect(results.map(({ status }) => status)).toEqual(ids.map(() => 'captured'))
  expect(await sizesOf(shop, ids)).toEqual([1, 1, 1])
})

/** Mints 100 tokens. */
function mintCall(to: Address): `0x${string}` {
  const value = (100_000_000).toString(16).padStart(64, '0')
  return `0x40c10f19${to.slice(2).toLowerCase().padStart(64, '0')}${value}`
}
