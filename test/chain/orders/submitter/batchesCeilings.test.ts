import { cancelCall } from 'countersign'
import { delegateSubmitter } from 'countersign/batches'
import type { Account, Chain, Transport, WalletClient } from 'viem'
import { afterAll, expect, test } from 'vitest'
import { contextOf } from '../../../../src/orders/contextOf.js'
import {
  openCeilingShop,
  startCeilingChain,
  storedCeiling,
} from '../../support/ceilingShop.js'
import { revoke } from '../../support/desk.js'
import { frontRun, mineSent } from '../../support/frontRun.js'
import { balanceOf } from '../../support/refundDesk.js'

const chain = await startCeilingChain({ batches: true })
afterAll(() => chain.stop())

/** A shop with ceilings of as many payers, stored and not captured. */
async function openTill(count: number, isDelegated: boolean) {
  const shop = await openCeilingShop(chain)
  const [wallet] = shop.parameters.wallets ?? []
  if (isDelegated)
    await delegateSubmitter(wallet as WalletClient<Transport, Chain, Account>)
  const stored: Awaited<ReturnType<typeof storedCeiling>>[] = []
  for (let at = 0; at < count; at++)
    stored.push(await storedCeiling(chain, shop))
  const ids = stored.map(({ id }) => id)
  const capture = () =>
    Promise.all(
      ids.map((orderId) => shop.orders.capture({ orderId, amount: '42.10' })),
    )
  const { store } = contextOf(shop.orders).context
  const sizes = async () => {
    const found = await store.read((tables) =>
      tables.transactions.find({ orderIds: ids }),
    )
    return found.map(({ movements }) => movements.length)
  }
  return { shop, stored, capture, sizes }
}

test('ceilings share a transaction of a delegated operator, each captured for its amount', async () => {
  const { shop, stored, capture, sizes } = await openTill(4, true)
  const results = await capture()
  expect(results).toMatchObject(
    stored.map(() => ({ status: 'captured', order: { amount: '42.1' } })),
  )
  expect(await sizes()).toEqual([4])
  expect(await balanceOf(chain, shop.seller)).toBe(4n * 42_100_000n)
})

test('a payer who cancels first fails alone among ceilings', async () => {
  const { shop, stored, capture, sizes } = await openTill(3, true)
  const [first] = stored
  if (!first) throw new Error('no payer')
  const { checkout: _, ...payment } = first.payment
  const cancellation = await revoke(chain, payment, first.payer)
  const { working } = await frontRun(
    chain,
    cancelCall({ cancellation }),
    capture,
  )
  await mineSent(chain)
  expect(await working).toMatchObject([
    { status: 'rejected', reason: 'canceled' },
    { status: 'captured' },
    { status: 'captured' },
  ])
  expect(await sizes()).toEqual([3])
  expect(await balanceOf(chain, shop.seller)).toBe(2n * 42_100_000n)
})

test('a plain operator captures ceilings one by one: the contract takes no other sender', async () => {
  const { capture, sizes } = await openTill(3, false)
  const results = await capture()
  expect(results.map(({ status }) => status)).toEqual(
    results.map(() => 'captured'),
  )
  expect(await sizes()).toEqual([1, 1, 1])
})
