import { capturePayment, waitForOutcome } from 'countersign'
import { type DevChain, startDevChain } from 'countersign/devchain'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { reconcile } from '../../../../src/orders/watcher/reconcile.js'
import { draft, fakeNode, fundedAccount, mined } from '../../support/desk.js'
import { capture, openShop } from '../../support/orderRows.js'
import { orderOf } from '../../support/watching.js'
import { contextOf, putOrder } from '../../support/watchRows.js'

let chain: DevChain

beforeAll(async () => {
  chain = await startDevChain({ blockTime: 0 })
})
afterAll(() => chain.stop())

/** A node whose first receipts of each transaction lack a place. */
function unplacing(looks: number) {
  const seen = new Map<unknown, number>()
  return fakeNode(chain, async ({ method, params }, forward) => {
    const answer = await forward()
    if (method !== 'eth_getTransactionReceipt' || !answer) return answer
    const hash = Object(params)[0]
    const look = (seen.get(hash) ?? 0) + 1
    seen.set(hash, look)
    const pending = { blockHash: null, blockNumber: null, status: null }
    return look > looks ? answer : { ...Object(answer), ...pending }
  })
}

test('a submitter waits for the place of a receipt that has none yet', async () => {
  const account = await fundedAccount(chain)
  const { client } = unplacing(2)
  const shop = openShop(chain, { account, client })
  const payment = await draft(chain, { to: account.address })
  const id = await putOrder(shop.context, payment)
  const result = await capture(shop, id, 60_000)
  expect(result.status).toBe('captured')
  const failed = shop.seen.filter(({ name }) => name.endsWith('failed'))
  expect(failed).toEqual([])
})

test('a wait and a reconciliation take no receipt without a place for a proof', async () => {
  const { client } = unplacing(1)
  const context = contextOf(chain, { tokens: [{ client, token: chain.token }] })
  await reconcile(context)
  const payment = await draft(chain)
  const id = await putOrder(context, payment)
  const hash = await mined(
    chain,
    capturePayment(chain.clients.merchant, { payment }),
  )
  const outcome = await waitForOutcome(client, {
    payment,
    hash,
    pollingInterval: 20,
  })
  expect(outcome).toMatchObject({ status: 'captured' })
  await reconcile(context)
  expect((await orderOf(context, id)).state).toBe('captured')
})
