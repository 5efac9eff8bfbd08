import type { DevChain } from 'countersign/devchain'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { seededRandom } from '../../../../src/testing/seededRandom.js'
import {
  balanceOf,
  openRefundShop,
  price,
  type RefundShop,
  startRefundChain,
} from '../../../chain/support/refundDesk.js'
import { isFull, killSeed } from '../../../kills/killCases.js'

let chain: DevChain
let shop: RefundShop
beforeAll(async () => {
  chain = await startRefundChain()
  shop = await openRefundShop(chain)
})
afterAll(async () => {
  await shop.orders.close()
  await chain.stop()
})

const sequences = isFull ? 1_000 : 30
const steps = 6

/**
 * One order with random refunds, blocks, waits and reorganizations. The worker
 * stops for each step, so that each begins at a known state.
 */
async function runSequence(random: () => number): Promise<void> {
  const { id, buyer } = await shop.sell()
  const takeStep = async (step: number): Promise<void> => {
    const kind = Math.floor(random() * 6)
    if (kind === 0) await chain.block({ account: buyer.address })
    else if (kind === 1)
      await chain.block({ account: buyer.address, blocked: false })
    else if (kind === 2) await chain.warp(30)
    else if (kind === 3)
      await chain.reorg({
        depth: 1 + Math.floor(random() * 2),
        transactions: random() < 0.5 ? 'replayed' : 'dropped',
      })
    else
      await shop.orders.refund({
        orderId: id,
        refundId: String(step),
        amount: String(1 + Math.floor(random() * 6)),
      })
  }
  for (let step = 0; step < steps; step++) {
    await takeStep(step)
    let looks = Math.floor(random() * 4)
    await shop.workUntil(async () => looks-- <= 0)
  }
  await chain.block({ account: buyer.address, blocked: false })
  await shop.workUntil(async () => {
    await chain.warp(5)
    const { refunds } = await shop.orders.get({ orderId: id })
    return refunds.every(
      ({ transfer, reserved }) =>
        transfer?.finality === 'finalized' || !reserved,
    )
  })
  const order = await shop.orders.get({ orderId: id })
  const { refunded } = order
  const shown = order.refunds.map(({ amount, state, transfer, nonce }) => ({
    amount,
    state,
    nonce,
    block: transfer?.blockNumber,
    hash: transfer?.transactionHash,
  }))
  expect(refunded).toBeLessThanOrEqual(price)
  const balance = await balanceOf(chain, buyer.address)
  expect({ balance, shown }).toEqual({ balance: refunded, shown })
}

test(`after ${sequences} random sequences, record, chain and books agree to the unit (seed ${killSeed})`, async () => {
  const random = seededRandom(killSeed)
  for (let sequence = 0; sequence < sequences; sequence++)
    await runSequence(random)
  await shop.orders.reconcile()
  const { ok, destinations } = await shop.orders.audit()
  expect({ ok, differences: destinations[0]?.differences }).toEqual({
    ok: true,
    differences: [],
  })
  const [audit] = destinations
  const paidIn = audit?.captured.value ?? 0n
  const paidOut = audit?.refunded.value ?? 0n
  const balance = await balanceOf(chain, shop.seller)
  expect(balance).toBe(paidIn - paidOut)
  let booked = 0n
  for await (const { gross } of shop.orders.ledger({})) booked += gross
  expect(booked).toBe(balance)
}, 10_800_000)
