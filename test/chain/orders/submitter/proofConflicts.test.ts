import { startDevChain } from 'countersign/devchain'
import { afterAll, expect, test } from 'vitest'
import { fundedAccount } from '../../support/desk.js'
import {
  capture,
  openShop,
  rowsOf,
  storeOrders,
} from '../../support/orderRows.js'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

test('a capture that is on record for another order is put aside, and the captures of others are settled', async () => {
  const { test: node } = chain.clients
  const shop = openShop(chain, { account: await fundedAccount(chain) })
  const [doubtful = '', other = '', wrong = ''] = await storeOrders(shop, 3)
  await node.setAutomine(false)
  const capturing = capture(shop, doubtful, 0)
  const sent = async () => (await rowsOf(shop, [doubtful])).transactions[0]
  await expect
    .poll(async () => (await node.getTxpoolStatus()).pending, {
      timeout: 60_000,
    })
    .toBe(1)
  const { hash } = (await sent()) ?? {}
  if (!hash) throw new Error('nothing was sent')
  const { orders, attempts } = await rowsOf(shop, [wrong])
  const [order] = orders
  const [attempt] = attempts
  if (!order || !attempt?.payer) throw new Error('no order')
  const { chainId, token, recipient, value } = order
  const { payer } = attempt
  await shop.context.store.write(({ proofs }) =>
    proofs.insert(
      // Its transfer is one of the first logs of its block.
      [0, 1, 2, 3].map((logIndex) => ({
        chainId,
        token,
        recipient,
        transactionHash: hash,
        logIndex,
        kind: 'capture',
        orderId: wrong,
        attempt: 1,
        blockHash: hash,
        blockNumber: 1n,
        blockTime: 1n,
        payer,
        value,
        submitter: recipient,
        gasUsed: 1n,
        effectiveGasPrice: 1n,
        removed: false,
      })),
    ),
  )
  await node.setAutomine(true)
  await node.mine({ blocks: 1 })
  await capturing
  expect((await capture(shop, other)).status).toBe('captured')
  await expect
    .poll(() => shop.seen.map(({ attributes }) => attributes.error), {
      timeout: 60_000,
    })
    .toContain('ProofConflictError')
  const rows = await rowsOf(shop, [doubtful, wrong])
  expect(rows.orders.map(({ state }) => state).sort()).toEqual([
    'capturing',
    'stored',
  ])
})
