import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startDevChain } from 'countersign/devchain'
import { afterAll, expect, test } from 'vitest'
import { buildPage } from '../../../examples/shop/server/buildPage.js'
import { startShop } from '../../../examples/shop/server/startShop.js'
import { startEndpoint } from '../../chain/support/endpoint.js'
import {
  authorize,
  button,
  isFinal,
  openDesk,
  orderFirst,
  reaches,
} from '../../chain/support/shopPage.js'

const folder = mkdtempSync(join(tmpdir(), 'countersign-shop-page-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const page = join(folder, 'page')
await buildPage(page)

test('a shop that is restarted in the middle is followed on, and loses nothing', async () => {
  const chain = await startDevChain({ preconfirmations: 'flashblocks' })
  const data = join(folder, 'data')
  const desk = await openDesk({ chain, data, page })
  const buyer = await desk.openWindow()
  await orderFirst(buyer.page, desk.shop)
  await authorize(buyer.page)
  await reaches(buyer.page, 'stored')
  const port = Number(new URL(desk.shop.url).port)
  await desk.shop.close()
  await buyer.page.getByText('The shop does not answer').waitFor()
  const again = await startShop({ chain, data, page, port })
  const { orders } = await again.orders.list()
  const [order] = orders
  expect(orders).toMatchObject([{ state: 'stored', amount: '12.5' }])
  void again.orders.capture({ orderId: order?.id ?? '' })
  await isFinal(buyer.page)
  expect((await again.orders.audit()).ok).toBe(true)
  await again.close()
  await desk.close()
  await chain.stop()
})

test('a node that is away for a while delays a payment, and nothing more', async () => {
  const chain = await startDevChain({ preconfirmations: 'flashblocks' })
  let isAway = false
  const { url } = await startEndpoint(chain.urls.http, () =>
    isAway ? { status: 503, body: { error: { code: -32_000 } } } : undefined,
  )
  const urls = { ...chain.urls, http: url }
  const desk = await openDesk({ chain: { ...chain, urls }, page })
  const { page: tab } = await desk.openWindow()
  await orderFirst(tab, desk.shop)
  await button(tab, 'Development wallet').click()
  const sign = tab.getByRole('button', { name: /^Sign payment of/ })
  await sign.waitFor()
  isAway = true
  await sign.click()
  await button(tab, 'Sign payment').click()
  await tab.getByText('This page keeps trying.').waitFor()
  isAway = false
  await reaches(tab, 'stored')
  for (const problem of desk.takeProblems())
    expect(problem).toMatch(/status of 50[23]/)
  await desk.close()
  await chain.stop()
})
