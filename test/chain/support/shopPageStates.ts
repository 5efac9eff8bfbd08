import type { MerchantOrder } from 'countersign/client'
import type { Page, Route } from 'playwright-core'
import type { Shop } from '../../../examples/shop/server/startShop.js'

export type MerchantLook = {
  order: Partial<MerchantOrder> & Pick<MerchantOrder, 'state'>
  events: readonly (readonly [type: string, data?: object])[]
}

/** Shows the merchant's newest order in each of these states instead. */
export async function showToMerchant(
  page: Page,
  { orders }: Shop,
  looks: readonly MerchantLook[],
): Promise<void> {
  const { orders: newest } = await orders.list({ limit: 1 })
  const first = JSON.parse(
    JSON.stringify(newest[0], (_, value) =>
      typeof value === 'bigint' ? String(value) : value,
    ),
  )
  const shown = looks.map(({ order }, at) => ({
    ...first,
    id: `order-${at}`,
    ...order,
  }))
  await page.route('**/merchant/api/merchant/orders?*', (route) =>
    route.fulfill({ json: { orders: shown } }),
  )
  await page.route('**/merchant/api/merchant/orders/order-*', (route) => {
    const id = new URL(route.request().url()).pathname.split('/').at(-1)
    return route.fulfill({ json: shown.find((order) => order.id === id) })
  })
  await page.route('**/merchant/api/merchant/events?orderId=*', (route) => {
    const id = new URL(route.request().url()).searchParams.get('orderId')
    const at = shown.findIndex((order) => order.id === id)
    const news = (looks[at]?.events ?? []).map(([type, data = {}], index) => ({
      chainId: first.chainId,
      token: first.token,
      recipient: first.recipient,
      type,
      data,
      orderId: id,
      cursor: String(index + 1),
      at: String(Date.now()),
    }))
    return stream(route, news)
  })
}

function stream(route: Route, news: readonly object[]): Promise<void> {
  const frames = news.map(
    (one, at) => `id: ${at + 1}\ndata: ${JSON.stringify(one)}\n\n`,
  )
  const body = frames.join('')
  return route.fulfill({ contentType: 'text/event-stream', body })
}
