import {
  cancelPayment,
  capturePayment,
  getToken,
  type SignedPayment,
} from 'countersign'
import { startDevChain } from 'countersign/devchain'
import { createReadClient } from 'countersign/reads'
import { createClient, http, type PrivateKeyAccount } from 'viem'
import { afterAll, expect, test } from 'vitest'
import { contextOf } from '../../../../src/orders/contextOf.js'
import { acceptUndrafted } from '../../../../src/orders/verbs/acceptUndrafted.js'
import {
  draft,
  fakeNode,
  fundedAccount,
  mined,
  revoke,
  rpcError,
} from '../../support/desk.js'
import { startEndpoint } from '../../support/endpoint.js'
import { openShop, pay } from '../../support/shop.js'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

const price = 12_500_000n

const walletOf = (account: PrivateKeyAccount) =>
  createClient({ account, chain: chain.chain, transport: http() })

/** A shop without a worker: only its calls learn what the chain shows. */
async function openQuietShop(changes: Parameters<typeof openShop>[1] = {}) {
  const account = await fundedAccount(chain)
  const shop = await openShop(chain, { sellers: [account], ...changes })
  const sell = async (buyer: PrivateKeyAccount) => {
    const { order, payment } = await shop.orders.draft({ amount: '12.50' })
    return { orderId: order.id, payment: await pay(buyer, payment) }
  }
  const buy = async (buyer: PrivateKeyAccount) => {
    const sold = await sell(buyer)
    return { ...sold, verdict: await shop.orders.accept(sold) }
  }
  /** Captures on the chain, so that the record does not know it. */
  const captureUnseen = (payment: SignedPayment) =>
    mined(chain, capturePayment(walletOf(account), { payment }))
  return { ...shop, sell, buy, captureUnseen }
}

test('a payment that the chain shows as captured and the record does not counts once', async () => {
  const shop = await openQuietShop()
  const buyer = await fundedAccount(chain, 2n * price)
  const first = await shop.buy(buyer)
  await shop.captureUnseen(first.payment)
  expect((await shop.buy(buyer)).verdict).toMatchObject({ ok: true })
  expect((await shop.buy(buyer)).verdict).toMatchObject({
    reason: 'exposureTooHigh',
    details: { balance: price, open: price, value: price },
  })
  const { state } = await shop.orders.get({ orderId: first.orderId })
  expect(state).toBe('stored')
})

test('the same holds for a payment that was not drafted', async () => {
  const shop = await openQuietShop()
  const { context } = contextOf(shop.orders)
  const token = await getToken(chain.clients.public, { token: chain.token })
  const signer = await fundedAccount(chain, 2n * price)
  const take = async (orderId: string) => {
    const payment = await draft(chain, {
      primaryType: 'TransferWithAuthorization',
      signer,
      to: shop.seller,
    })
    const verdict = await acceptUndrafted(context, {
      orderId,
      payment,
      token,
      recipient: shop.seller,
      value: price,
      capture: 'later',
    })
    return { payment, verdict }
  }
  const first = await take('first')
  await shop.captureUnseen(first.payment)
  expect((await take('second')).verdict).toMatchObject({ ok: true })
  expect((await take('third')).verdict).toMatchObject({
    reason: 'exposureTooHigh',
    details: { balance: price, open: price, value: price },
  })
})

test('a payment that its payer canceled on the chain counts no more', async () => {
  const shop = await openQuietShop()
  const buyer = await fundedAccount(chain, price)
  const first = await shop.buy(buyer)
  const cancellation = await revoke(chain, first.payment, buyer)
  await mined(chain, cancelPayment(walletOf(buyer), { cancellation }))
  expect((await shop.buy(buyer)).verdict).toMatchObject({ ok: true })
})

test('a payment captured after the token was asked about it counts', async () => {
  const meanwhile: (() => Promise<unknown>)[] = []
  // Asked twice: for the rehearsal, and about the payments that are counted.
  const { client } = fakeNode(chain, async ({ method }, forward) => {
    const answer = await forward()
    if (method === 'eth_call') await meanwhile.shift()?.()
    return answer
  })
  const shop = await openQuietShop({ client })
  const buyer = await fundedAccount(chain, 2n * price)
  const first = await shop.buy(buyer)
  await shop.buy(buyer)
  const third = await shop.sell(buyer)
  const { orderId } = first
  meanwhile.push(
    async () => undefined,
    () => shop.orders.capture({ orderId }),
  )
  expect(await shop.orders.accept(third)).toMatchObject({
    reason: 'exposureTooHigh',
    details: { balance: 2n * price, open: 2n * price, value: price },
  })
  expect(meanwhile).toEqual([])
  const { state } = await shop.orders.get({ orderId })
  expect(state).toBe('captured')
})

test('only a payment that would be refused takes another request', async () => {
  const { url, asked } = await startEndpoint(chain.urls.http)
  const client = createReadClient({ chain: chain.chain, url })
  const shop = await openQuietShop({ client })
  const buyer = await fundedAccount(chain, 3n * price)
  const sold = []
  for (let at = 0; at < 4; at++) sold.push(await shop.sell(buyer))
  const results: unknown[] = []
  for (const one of sold) {
    const before = asked.length
    const { ok } = await shop.orders.accept(one)
    results.push({ ok, requests: asked.length - before })
    if (one === sold[0]) await shop.captureUnseen(one.payment)
  }
  expect(results).toEqual([
    { ok: true, requests: 1 },
    { ok: true, requests: 1 },
    { ok: true, requests: 2 },
    { ok: false, requests: 2 },
  ])
})

/** Selector of `balanceOf(address)`. */
const balanceOf = '0x70a08231'

test.each<[string, () => unknown]>([
  ['reverts', () => Promise.reject(rpcError(3, 'execution reverted'))],
  ['is empty', () => '0x'],
])(
  'a balance of the payer that %s on a node without state overrides is a temporary failure and not 0',
  async (_, answer) => {
    let isReadable = false
    const { client } = fakeNode(chain, async ({ method, params }, forward) => {
      const [call, , overrides] = Object(params)
      if (method !== 'eth_call') return forward()
      if (overrides) throw rpcError(-32602, 'too many arguments')
      const isBalance = String(call.data).startsWith(balanceOf)
      return isBalance && !isReadable ? answer() : forward()
    })
    const shop = await openQuietShop({ client })
    const buyer = await fundedAccount(chain, price)
    const sold = await shop.sell(buyer)
    await expect(shop.orders.accept(sold)).rejects.toMatchObject({
      name: 'NodeAnswerError',
      retryable: true,
      details: { problem: 'holds no balance of the payer' },
    })
    isReadable = true
    expect(await shop.orders.accept(sold)).toMatchObject({ ok: true })
    isReadable = false
    const more = await shop.sell(buyer)
    await expect(shop.orders.accept(more)).rejects.toMatchObject({
      name: 'NodeAnswerError',
    })
  },
)
