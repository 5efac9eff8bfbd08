import { delegateSubmitter } from 'countersign/batches'
import { startDevChain } from 'countersign/devchain'
import { sealer } from 'countersign/store'
import type { Address } from 'viem'
import { createWalletClient, http, keccak256, zeroHash } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import {
  getTransactionReceipt,
  sendTransaction,
  setBalance,
} from 'viem/actions'
import { afterAll, expect, test } from 'vitest'
import {
  caliburDelegate,
  metamaskDelegate,
} from '../../../../src/core/knownDelegates.js'
import { draft, fundedAccount } from '../../support/desk.js'
import {
  captureAll,
  openShop,
  rowsOf,
  type Shop,
  type ShopParameters,
  storeOrder,
  timesPaid,
} from '../../support/orderRows.js'

const chain = await startDevChain({ blockTime: 0, accounts: 20, batches: true })
afterAll(() => chain.stop())

const keys = { one: new Uint8Array(32).fill(1) }

const walletOf = (account: PrivateKeyAccount) =>
  createWalletClient({
    account,
    chain: chain.chain,
    transport: http(chain.urls.http),
  })

/** A shop whose account is delegated, with payments of as many payers. */
async function openTill(
  delegate: 'metamask' | 'calibur' | undefined,
  types: readonly ('ReceiveWithAuthorization' | 'TransferWithAuthorization')[],
  more: Partial<ShopParameters> = {},
): Promise<{
  shop: Shop
  account: PrivateKeyAccount
  payers: PrivateKeyAccount[]
  ids: string[]
}> {
  const account = await fundedAccount(chain)
  await setBalance(chain.clients.test, {
    address: account.address,
    value: 10n ** 18n,
  })
  if (delegate) await delegateSubmitter(walletOf(account), { delegate })
  const seal = sealer({ keys, current: 'one' })
  const shop = openShop(chain, { account, seal, ...more })
  const ids: string[] = []
  const payers: PrivateKeyAccount[] = []
  for (const primaryType of types) {
    const signer = await fundedAccount(chain, 2_000_000n)
    payers.push(signer)
    const payment = await draft(chain, {
      to: account.address,
      amount: '1',
      primaryType,
      signer,
    })
    ids.push(await storeOrder(shop, payment))
  }
  return { shop, account, payers, ids }
}

const sizesOf = async (shop: Shop, ids: readonly string[]) =>
  (await rowsOf(shop, ids)).transactions.map(
    ({ movements }) => movements.length,
  )

const both = [
  'ReceiveWithAuthorization',
  'TransferWithAuthorization',
  'ReceiveWithAuthorization',
  'ReceiveWithAuthorization',
] as const

test.each(['metamask', 'calibur'] as const)(
  'an account that delegates to %s captures payments of both types in one transaction',
  async (delegate) => {
    const { shop, ids } = await openTill(delegate, both)
    // The first is sent before the others are asked for, if the node is quick.
    const results = await captureAll(shop, ids)
    expect(results).toEqual(ids.map(() => 'captured'))
    const sizes = await sizesOf(shop, ids)
    expect(sizes.reduce((sum, one) => sum + one, 0)).toBe(4)
    expect(sizes.length).toBeLessThanOrEqual(2)
    expect(await timesPaid(shop, ids)).toEqual([1, 1, 1, 1])
  },
)

test('a plain account batches only Transfer payments', async () => {
  const { shop, ids } = await openTill(undefined, [
    ...both,
    'TransferWithAuthorization',
  ])
  expect(await captureAll(shop, ids)).toEqual(ids.map(() => 'captured'))
  const { transactions, orders } = await rowsOf(shop, ids)
  const shared = transactions.filter(({ movements }) => movements.length > 1)
  const types = shared.flatMap(({ movements }) =>
    movements.map(
      ({ orderId }) => orders.find(({ id }) => id === orderId)?.primaryType,
    ),
  )
  expect(new Set(types)).toEqual(new Set(['TransferWithAuthorization']))
})

test.each<[string, Address]>([
  ['another contract', `0x${'77'.repeat(20)}`],
  ['code that is not the delegate’s', metamaskDelegate.address],
])(
  'an account that delegates to %s captures one by one',
  async (_, delegate) => {
    const { shop, account, ids } = await openTill(undefined, [both[0], both[2]])
    const { test: node, public: reader } = chain.clients
    const real = await reader.getCode({ address: delegate })
    await node.setCode({ address: delegate, bytecode: '0x6001600081f3' })
    await node.setCode({
      address: account.address,
      bytecode: `0xef0100${delegate.slice(2)}`,
    })
    await captureAll(shop, ids)
    expect(await sizesOf(shop, ids)).toEqual([1, 1])
    expect(await timesPaid(shop, ids)).toEqual([1, 1])
    await node.setCode({ address: delegate, bytecode: real ?? '0x' })
  },
)

/** Code that takes every call, and does nothing. */
const stop = '0x00'

test.each<[string, string]>([
  // A plain account: a call to itself does nothing, and succeeds.
  ['ended', ''],
  ['changed', `ef0100${'99'.repeat(20)}`],
])(
  'of a transaction that was sent when the delegation %s, nothing is concluded',
  async (_, code) => {
    const { shop, account, ids } = await openTill('calibur', both)
    const { test: node, public: reader } = chain.clients
    await node.setCode({ address: `0x${'99'.repeat(20)}`, bytecode: stop })
    await node.setAutomine(false)
    const results = captureAll(shop, ids)
    await expect
      .poll(() => sizesOf(shop, ids), { timeout: 20_000 })
      .not.toEqual([])
    const [{ hash = '0x' } = {}] = (await rowsOf(shop, ids)).transactions
    await node.setCode({ address: account.address, bytecode: `0x${code}` })
    await node.mine({ blocks: 1 })
    await node.setAutomine(true)
    const { status, logs } = await getTransactionReceipt(reader, { hash })
    expect([status, logs]).toEqual(['success', []])
    expect(await results).toEqual(ids.map(() => 'captured'))
    expect(await timesPaid(shop, ids)).toEqual([1, 1, 1, 1])
    const { events } = await rowsOf(shop, ids)
    expect(events.some(({ type }) => type === 'captureRejected')).toBe(false)
  },
)

test.each([
  ['trusts by its code captures payments together', 0, [3]],
  ['trusts for other code captures them one by one', 1, [1, 1, 1]],
])(
  'an account that delegates to a contract that the shop %s',
  async (_, other, sizes) => {
    const { test: node, public: reader } = chain.clients
    const address: Address = `0x${'78'.repeat(20)}`
    const code = await reader.getCode({ address: caliburDelegate.address })
    const bytecode = code ?? '0x'
    await node.setCode({ address, bytecode })
    const codeHash = other ? zeroHash : keccak256(bytecode)
    const { shop, account, ids } = await openTill(
      undefined,
      [both[0], both[2], both[3]],
      { delegates: [{ address, codeHash }] },
    )
    await node.setCode({
      address: account.address,
      bytecode: `0xef0100${'78'.repeat(20)}`,
    })
    expect(await captureAll(shop, ids)).toEqual(ids.map(() => 'captured'))
    expect(await sizesOf(shop, ids)).toEqual(sizes)
    expect(await timesPaid(shop, ids)).toEqual([1, 1, 1])
  },
)

test('a payer who moves the money first fails alone among Receive payments', async () => {
  const { shop, ids, payers } = await openTill('metamask', [
    both[0],
    both[2],
    both[3],
  ])
  const [payer] = payers
  if (!payer) throw new Error('no payer')
  const { test: node } = chain.clients
  await node.setAutomine(false)
  const results = captureAll(shop, ids)
  await expect.poll(() => sizesOf(shop, ids), { timeout: 20_000 }).toEqual([3])
  const to = '11'.repeat(20).padStart(64, '0')
  await sendTransaction(walletOf(payer), {
    to: chain.token,
    data: `0xa9059cbb${to}${(2_000_000).toString(16).padStart(64, '0')}`,
    gas: 100_000n,
    maxFeePerGas: 10n ** 12n,
    maxPriorityFeePerGas: 10n ** 11n,
  })
  await node.mine({ blocks: 1 })
  await node.setAutomine(true)
  expect(await results).toEqual(['rejected', 'captured', 'captured'])
  expect(await timesPaid(shop, ids)).toEqual([0, 1, 1])
  const { orders, transactions } = await rowsOf(shop, ids)
  const refused = orders.find(({ id }) => id === ids[0])
  expect(refused?.reason).toBe('insufficientFunds')
  expect(transactions).toHaveLength(1)
})
