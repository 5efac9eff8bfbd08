import { createReadClient } from 'countersign/reads'
import { expect, test } from 'vitest'
import { exchangeKey } from '../../../../src/x402/gate/exchanges.js'
import { fundedAccount } from '../../support/desk.js'
import { startSilentNode } from '../../support/silentNode.js'
import {
  balanceOf,
  chain,
  type GateShop,
  openGateShop,
  price,
} from '../../support/x402Desk.js'
import { payFor } from '../../support/x402Paid.js'

const goods = () => new Response('goods')

/** How far the exchange of an order has come. */
async function stepOf({ store }: GateShop, orderId: string): Promise<unknown> {
  const [note] = await store.read(({ notes }) =>
    notes.find({ keys: [exchangeKey(orderId)] }),
  )
  return note?.data.step
}

test('while another process has the submitter, an answer is kept without it', async () => {
  const shop = await openGateShop()
  const { send, order } = await payFor(shop, 'work', goods)
  const key = `submitter:${chain.chain.id}:${shop.seller}`
  const wanted = { key, owner: 'another process', milliseconds: 60_000 }
  const lease = await shop.store.takeLease(wanted)
  const answered = send()
  await expect
    .poll(async () => stepOf(shop, await order().then(({ id }) => id, String)))
    .toBe('done')
  expect((await order()).state).toBe('stored')
  if (lease) await shop.store.releaseLease(lease)
  expect(await (await answered).text()).toBe('goods')
  await shop.orders.close()
})

test('when the node hangs after the work, the answer is kept without it', async () => {
  const node = await startSilentNode(chain.urls.http)
  const client = createReadClient({ chain: chain.chain, url: node.url })
  const shop = await openGateShop({ timeout: 1_000 }, { client })
  const { send, order } = await payFor(shop, 'work', () => {
    node.silence(() => true)
    return goods()
  })
  const answered = send()
  await expect
    .poll(
      async () => stepOf(shop, await order().then(({ id }) => id, String)),
      { timeout: 1_500 },
    )
    .toBe('done')
  expect((await answered).status).toBe(503)
  await shop.orders.close()
})

test('an order that is voided while its transaction is signed is not sent, and those beside it are', async () => {
  const account = await fundedAccount(chain)
  let signing = async () => {}
  const signer: typeof account = {
    ...account,
    signTransaction: async (...given) => {
      const before = signing
      signing = async () => {}
      await before()
      return account.signTransaction(...given)
    },
  }
  const shop = await openGateShop({}, { sellers: [signer] })
  let waiting = 0
  let start = () => {}
  const both = new Promise<void>((resolve) => {
    start = resolve
  })
  // Both answers are ready at the same moment, so that both are joined.
  const work = async () => {
    waiting++
    if (waiting === 2) start()
    await both
    return goods()
  }
  const one = await payFor(shop, 'work', work)
  const other = await payFor(shop, 'work', work)
  signing = async () => {
    const { id } = await one.order()
    expect((await shop.orders.void({ orderId: id })).ok).toBe(true)
  }
  const [refused, paid] = await Promise.all([one.send(), other.send()])
  expect(refused.status).toBe(402)
  expect([paid.status, await paid.text()]).toEqual([200, 'goods'])
  expect(await balanceOf(one.account.address)).toBe(price)
  expect(await balanceOf(other.account.address)).toBe(0n)
  expect((await one.order()).state).toBe('voided')
  expect((await shop.orders.audit()).ok).toBe(true)
  await shop.orders.close()
})
