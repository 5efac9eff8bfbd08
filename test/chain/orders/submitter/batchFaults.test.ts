import { delegateSubmitter } from 'countersign/batches'
import { startDevChain } from 'countersign/devchain'
import { sealer } from 'countersign/store'
import { createWalletClient, http } from 'viem'
import { setBalance } from 'viem/actions'
import { afterAll, expect, test } from 'vitest'
import { multicall } from '../../../../src/core/knownDelegates.js'
import { draft, fakeNode, fundedAccount } from '../../support/desk.js'
import { putMulticall } from '../../support/multicall3.js'
import {
  captureAll,
  openShop,
  rowsOf,
  storeOrder,
  timesPaid,
} from '../../support/orderRows.js'

const chain = await startDevChain({ blockTime: 0, accounts: 20, batches: true })
afterAll(() => chain.stop())

test('a delegated account that has captured one payment alone batches the next ones', async () => {
  const account = await fundedAccount(chain)
  const { address } = account
  await setBalance(chain.clients.test, { address, value: 10n ** 18n })
  const wallet = createWalletClient({
    account,
    chain: chain.chain,
    transport: http(chain.urls.http),
  })
  await delegateSubmitter(wallet)
  const keys = { one: new Uint8Array(32).fill(1) }
  const shop = openShop(chain, {
    account,
    seal: sealer({ keys, current: 'one' }),
  })
  const store = async () => {
    const signer = await fundedAccount(chain, 2_000_000n)
    return storeOrder(
      shop,
      await draft(chain, { to: address, amount: '1', signer }),
    )
  }
  expect(await captureAll(shop, [await store()])).toEqual(['captured'])
  const ids: string[] = []
  for (let at = 0; at < 8; at++) ids.push(await store())
  await captureAll(shop, ids)
  const { transactions } = await rowsOf(shop, ids)
  expect(transactions.length).toBeLessThan(8)
  expect(await timesPaid(shop, ids)).toEqual(ids.map(() => 1))
})

test('a payer that gets code while the transaction is signed is held back, and goes alone', async () => {
  await putMulticall(chain)
  const { test: node } = chain.clients
  const signers = await Promise.all(
    Array.from({ length: 6 }, () => fundedAccount(chain, 2_000_000n)),
  )
  const [, , late] = signers
  if (!late) throw new Error('no payer')
  let coding: Promise<void> | undefined
  const seller = await fundedAccount(chain)
  const account = {
    ...seller,
    signTransaction: async (
      ...given: Parameters<typeof seller.signTransaction>
    ) => {
      const { to } = given[0]
      if (to === multicall.address)
        coding ??= node.setCode({ address: late.address, bytecode: '0x00' })
      await coding
      return seller.signTransaction(...given)
    },
  } as typeof seller
  const { client } = fakeNode(chain, async ({ method }, forward) => {
    // The second question about the payers comes while this is signed.
    if (method === 'eth_call') await coding
    return forward()
  })
  const keys = { one: new Uint8Array(32).fill(1) }
  const seal = sealer({ keys, current: 'one' })
  const shop = openShop(chain, { account, seal, client })
  const ids: string[] = []
  for (const signer of signers)
    ids.push(
      await storeOrder(
        shop,
        await draft(chain, {
          to: account.address,
          amount: '1',
          primaryType: 'TransferWithAuthorization',
          signer,
        }),
      ),
    )
  await captureAll(shop, ids, 5_000)
  const { transactions } = await rowsOf(shop, ids)
  const shared = transactions.filter(({ movements }) => movements.length > 1)
  expect(shared.length).toBeGreaterThan(0)
  const together = shared.flatMap(({ movements }) =>
    movements.map(({ orderId }) => orderId),
  )
  expect(together).not.toContain(ids[2])
  const paid = await timesPaid(shop, ids)
  expect(paid.filter((_, at) => at !== 2)).toEqual([1, 1, 1, 1, 1])
})
