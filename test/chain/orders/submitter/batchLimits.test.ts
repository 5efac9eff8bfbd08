import { deployDevToken, startDevChain } from 'countersign/devchain'
import type { PrivateKeyAccount } from 'viem/accounts'
import { toAccount } from 'viem/accounts'
import { getTransactionReceipt } from 'viem/actions'
import { afterAll, expect, test } from 'vitest'
import { draft, fundedAccount } from '../../support/desk.js'
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

/** Payments of as many payers to a recipient, stored and not captured. */
async function openTill(
  account: PrivateKeyAccount,
  count: number,
  more: Partial<ShopParameters> = {},
): Promise<{ shop: Shop; ids: string[] }> {
  const shop = openShop(chain, { account, ...more })
  const ids: string[] = []
  for (let at = 0; at < count; at++) {
    const signer = await fundedAccount(chain, 2_000_000n)
    const payment = await draft(chain, {
      to: account.address,
      amount: '1',
      primaryType: 'TransferWithAuthorization',
      signer,
    })
    ids.push(await storeOrder(shop, payment))
  }
  return { shop, ids }
}

const sizesOf = async (shop: Shop, ids: readonly string[]) =>
  (await rowsOf(shop, ids)).transactions.map(
    ({ movements }) => movements.length,
  )

test('captures fill as many transactions as may be in flight from the first look on', async () => {
  const account = await fundedAccount(chain)
  const policy = { maxBatch: 6, maxInFlight: 2 }
  const { shop, ids } = await openTill(account, 12, { policy })
  expect(await captureAll(shop, ids)).toEqual(ids.map(() => 'captured'))
  expect(await sizesOf(shop, ids)).toEqual([6, 6])
})

test('two payments share a transaction', async () => {
  const { shop, ids } = await openTill(await fundedAccount(chain), 2)
  expect(await captureAll(shop, ids)).toEqual(['captured', 'captured'])
  expect(await sizesOf(shop, ids)).toEqual([2])
})

test('with `maxBatch` of 250, as many of 250 payments share a transaction as its gas allows', async () => {
  const account = await fundedAccount(chain)
  const shop = openShop(chain, { account, policy: { maxBatch: 250 } })
  const ids = await storeOrders(shop, 250, {
    primaryType: 'TransferWithAuthorization',
    amount: '0.01',
  })
  expect(await captureAll(shop, ids)).toEqual(ids.map(() => 'captured'))
  const { transactions } = await rowsOf(shop, ids)
  const sizes = transactions.map(({ movements }) => movements.length)
  expect(sizes.reduce((sum, one) => sum + one, 0)).toBe(250)
  expect(Math.max(...sizes)).toBeGreaterThan(150)
  for (const { gas } of transactions) expect(gas).toBeLessThanOrEqual(2n ** 24n)
  expect(await timesPaid(shop, ids)).toEqual(ids.map(() => 1))
})

test('a signer that allows only calls of the token gets each payment alone', async () => {
  const plain = await fundedAccount(chain)
  const account = toAccount({
    ...plain,
    signTransaction: (transaction, options) => {
      if (transaction.to?.toLowerCase() !== chain.token.toLowerCase())
        throw new Error('not allowed by the policy of the key')
      return plain.signTransaction(transaction, options)
    },
  }) as unknown as PrivateKeyAccount
  const { shop, ids } = await openTill(account, 4)
  const results = await captureAll(shop, ids, 30_000)
  expect(results).toEqual(ids.map(() => 'captured'))
  expect(await sizesOf(shop, ids)).toEqual([1, 1, 1, 1])
  expect(await timesPaid(shop, ids)).toEqual([1, 1, 1, 1])
})

test('an account that can pay the gas of some payments does not wait until it can pay for all', async () => {
  const account = await fundedAccount(chain)
  const { address } = account
  const { shop, ids } = await openTill(account, 12)
  const { baseFeePerGas } = await chain.clients.public.getBlock()
  const price = 2n * (baseFeePerGas ?? 1n) + 10n ** 9n
  await chain.clients.test.setBalance({ address, value: 400_000n * price })
  const results = captureAll(shop, ids, 20_000)
  await expect
    .poll(async () => (await sizesOf(shop, ids)).length, { timeout: 15_000 })
    .toBeGreaterThan(0)
  const [first = 0] = await sizesOf(shop, ids)
  expect(first).toBeGreaterThan(1)
  expect(first).toBeLessThan(12)
  await chain.clients.test.setBalance({ address, value: 10n ** 18n })
  expect(await results).toEqual(ids.map(() => 'captured'))
  expect(await timesPaid(shop, ids)).toEqual(ids.map(() => 1))
})

test('the shares of the gas add up where payments of two tokens are due together', async () => {
  const other = await deployDevToken(chain)
  const account = await fundedAccount(chain)
  const shop = openShop(chain, { account, tokens: [other] })
  const ids: string[] = []
  for (const token of [chain.token, other, chain.token, other]) {
    const signer = await fundedAccount(chain)
    await chain.mint({ to: signer.address, value: 2_000_000n, token })
    const payment = await draft(chain, {
      to: account.address,
      amount: '1',
      primaryType: 'TransferWithAuthorization',
      signer,
      domain: {
        name: 'USD Coin',
        version: '2',
        chainId: 31337,
        verifyingContract: token,
      },
    })
    const at = { context: shop.context, chain: { ...chain, token } }
    ids.push(await storeOrder(at, payment))
  }
  expect(await captureAll(shop, ids)).toEqual(ids.map(() => 'captured'))
  const { transactions, proofs } = await rowsOf(shop, ids)
  expect(proofs).toHaveLength(4)
  for (const { hash = '0x' } of transactions) {
    const { gasUsed } = await getTransactionReceipt(chain.clients.public, {
      hash,
    })
    const shares = proofs.filter((one) => one.transactionHash === hash)
    expect(shares.reduce((sum, one) => sum + one.gasUsed, 0n)).toBe(gasUsed)
  }
})
