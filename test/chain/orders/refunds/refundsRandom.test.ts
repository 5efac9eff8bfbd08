import type { DevChain } from 'countersign/devchain'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { seededRandom } from '../../../../src/testing/seededRandom.js'
import { isFull, killSeed } from '../../../kills/killCases.js'
import {
  balanceOf,
  openRefundShop,
  price,
  type RefundShop,
  startRefundChain,
} from '../../support/refundDesk.js'

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

const sequences = isFull ? 1_000 : 60
const steps = 6

/**
 * One order with random refunds, blocks and waits. Reorganizations have tests of
 * their own: beside a worker that sends, the development node's balances did not
 * always match the logs of its own blocks.
 */
async function runSequence(random: () => number): Promise<void> {
  const { id, buyer } = await shop.sell()
  let left = steps
  const takeStep = async (): Promise<void> => {
    const kind = Math.floor(random() * 5)
    if (kind === 0) await chain.block({ account: buyer.address })
    else if (kind === 1)
      await chain.block({ account: buyer.address, blocked: false })
    else if (kind === 2) await chain.warp(30)
    else
      await shop.orders.refund({
        orderId: id,
        refundId: String(left),
        amount: String(1 + Math.floor(random() * 6)),
      })
  }
  await shop.workUntil(async () => {
    if (left > 0) {
      await takeStep()
      left--
      return false
    }
    await chain.block({ account: buyer.address, blocked: false })
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

test(`after ${sequences} random sequences, record and chain agree to the unit (seed ${killSeed})`, async () => {
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
  expect(await balanceOf(chain, shop.seller)).toBe(paidIn - paidOut)
}, 1_800_000)
