import { formatAmount } from 'countersign'
import type { DevChain } from 'countersign/devchain'
import { toHledger } from 'countersign/orders'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { judgeJournal } from '../../support/hledger.js'
import { rowsOf, sum } from '../../support/ledgerShop.js'
import {
  balanceOf,
  carryToEnd,
  openRefundShop,
  price,
  requestRefund,
  startRefundChain,
} from '../../support/refundDesk.js'

let chain: DevChain
beforeAll(async () => {
  chain = await startRefundChain()
})
afterAll(() => chain.stop())

test('partial refunds are rows of their order with ids of their own, and the books equal balanceOf', async () => {
  const shop = await openRefundShop(chain)
  const { orders, seller } = shop
  const { id, buyer } = await shop.sell()
  await requestRefund(orders, id, 'one', '5')
  await requestRefund(orders, id, 'two', '4.5')
  for (const refundId of ['one', 'two']) await carryToEnd(shop, id, refundId)
  await orders.reconcile()
  const left = price - 9_500_000n
  expect(await balanceOf(chain, seller)).toBe(left)

  for (const transfers of [false, true]) {
    const rows = await rowsOf(shop, { transfers })
    const moved = rows.filter(({ gross }) => gross !== 0n)
    const payer = buyer.address.toLowerCase()
    const of = { orderId: id, recipient: seller, payer }
    expect(moved).toMatchObject([
      { ...of, type: 'capture', gross: price, refundId: undefined },
      { ...of, type: 'refund', gross: -5_000_000n, refundId: 'one' },
      { ...of, type: 'refund', gross: -4_500_000n, refundId: 'two' },
    ])
    expect(sum(moved.map(({ net }) => net))).toBe(left)
    const gas = rows.filter(({ type }) => type === 'gas')
    expect(gas.map(({ refundId }) => refundId)).toEqual([
      undefined,
      'one',
      'two',
    ])
  }

  const lines: string[] = []
  for await (const text of toHledger(orders.ledger({ transfers: true })))
    lines.push(text)
  const { read, judged = read } = await judgeJournal(lines.join(''))
  expect(judged).toEqual(read)
  const place = `31337:${chain.token}:${seller}`.toLowerCase()
  expect(read[`assets:${place}`]).toBe(formatAmount(left, 6))
  expect(read[`expenses:refunds:${place}`]).toBe('9.5')
  await orders.close()
})
