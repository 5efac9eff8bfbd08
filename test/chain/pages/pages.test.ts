import { createBuyerClient } from 'countersign/client'
import { type DevChain, startDevChain } from 'countersign/devchain'
import { createPaymentHandler } from 'countersign/http'
import { createPages } from 'countersign/pages'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { dataOf } from '../../unit/support/openPages.js'
import { fundedAccount } from '../support/desk.js'
import { openShop } from '../support/shop.js'

let chain: DevChain
beforeAll(async () => {
  chain = await startDevChain()
})
afterAll(() => chain.stop())

test('what a page says of chain, token and routes is enough to pay by its link', async () => {
  const { orders } = await openShop(chain)
  const origin = 'https://shop.example'
  const pages = createPages(orders, {
    payments: '/shop/payments',
    name: 'Roastery',
    basePath: '/shop',
    url: `${origin}/shop`,
  })
  const payments = createPaymentHandler(orders, {
    basePath: '/shop/payments',
    authorize: () => undefined,
  })
  const drafted = await orders.draft({ amount: '12.50' })
  const orderId = drafted.order.id
  const { buyerToken } = drafted
  const link = new URL(pages.payUrl({ orderId, buyerToken }))

  const sent: string[] = []
  const data = await dataOf(
    (async () => {
      // A browser sends nothing behind the `#`.
      const request = new Request(link.href.replace(link.hash, ''))
      sent.push(request.url)
      return pages(request)
    })(),
  )
  const buyer = createBuyerClient({
    url: new URL(String(data.payments), link).href,
    orderId,
    buyerToken: link.hash.slice(1),
    fetch: (request) => {
      sent.push(request.url)
      return payments(request)
    },
  })
  const { recipient, amount } = await buyer.get()
  const [token] = data.tokens as [
    { chainId: number; token: `0x${string}`; decimals: number },
  ]
  const account = await fundedAccount(chain, 100_000_000n)
  const wallet = { account, request: async () => '0x7a69' }
  const stored = await buyer.pay(wallet, {
    payer: account.address,
    expect: { ...pick(token), to: recipient, amount },
  })
  expect(stored.state).toBe('stored')
  expect(sent.filter((url) => url.includes(buyerToken))).toEqual([])
})

function pick({
  chainId,
  token,
  decimals,
}: {
  chainId: number
  token: `0x${string}`
  decimals: number
}) {
  return { chainId, token, decimals }
}
