import { startDevChain } from 'countersign/devchain'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { fakeNode, rpcError } from '../../../chain/support/desk.js'
import {
  capture,
  openShop,
  rowsOf,
  storeOrders,
  timesPaid,
} from '../../../chain/support/orderRows.js'
import { onSend } from '../../../chain/support/walletShop.js'

/*
 * Not in the gate: each stalled block costs three times the last one, so that a
 * machine on which twenty of them are not enough never ends the test.
 */

const chain = await startDevChain({ blockTime: 0, accounts: 12 })
const { test: control } = chain.clients
afterAll(() => chain.stop())

test('a fee bump the wallet declines leaves the capture in flight, and is asked for again later', async () => {
  let asked = 0
  const [account] = chain.accounts.slice(5)
  if (!account) throw new Error('There are no accounts left.')
  const { address } = account
  // Stalled blocks are dear, and a slow machine needs more of them.
  await control.setBalance({ address, value: 10n ** 30n })
  const node = fakeNode(chain)
  const shop = openShop(chain, {
    account: { address, type: 'json-rpc' },
    client: node.client,
    // Long, since a slow machine stalls the chain more often.
    policy: { bumpAfter: 30, window: 80_000n },
    answer: onSend(chain, async (pass, fields) => {
      asked++
      if (asked === 3) throw rpcError(4001, 'User rejected the request.')
      return pass(fields)
    }),
  })
  const [first, second = ''] = await storeOrders(shop, 2)
  expect(await capture(shop, first)).toMatchObject({ status: 'captured' })

  await control.setAutomine(false)
  const captured = capture(shop, second)
  const rows = async () => {
    const { transactions } = await rowsOf(shop, [second])
    return transactions.map(({ bump, inFlight }) => [bump, inFlight])
  }
  // The row is there before the wallet has sent it.
  const pool = async () => (await control.getTxpoolStatus()).pending
  await expect.poll(pool).toBe(1)
  expect(await rows()).toEqual([[0, true]])
  const { orders } = await rowsOf(shop, [second])
  const heads = () =>
    node.methods().filter((method) => method === 'eth_getBlockByNumber').length
  // Each stalled block is seen before the next one, so that the payment's
  // window does not end while a slow machine looks.
  const stallSeen = async () => {
    const before = heads()
    await stall()
    await expect.poll(heads).toBeGreaterThan(before + 2)
    return rows()
  }
  const askedAgain = async () => {
    const [sent, refused, ...later] = await stallSeen()
    return [sent, refused, later.some(([, inFlight]) => inFlight)]
  }
  await expect.poll(askedAgain).toEqual([[0, true], [1, false], true])
  const { orders: after } = await rowsOf(shop, [second])
  expect(after).toEqual(orders)
  await control.setAutomine(true)
  await control.setNextBlockBaseFeePerGas({ baseFeePerGas: 1n })
  await control.mine({ blocks: 1 })
  // What a slow machine sent too late is due again by the time of the chain.
  const mining = setInterval(() => chain.warp(31).catch(() => undefined), 500)
  onTestFinished(() => clearInterval(mining))
  expect(await captured).toMatchObject({ status: 'captured' })
  expect(await timesPaid(shop, [second])).toEqual([1])
})

/** Wei for each gas. */
let stalledFee = 10n ** 10n

/**
 * A block without what is in the pool. It costs three times what the last one
 * did: a fee bump may pay twice the fee that the submitter saw. Anvil ends above
 * 2^64 wei.
 */
async function stall(): Promise<void> {
  stalledFee *= 3n
  await control.setNextBlockBaseFeePerGas({ baseFeePerGas: stalledFee })
  await chain.warp(31)
}
