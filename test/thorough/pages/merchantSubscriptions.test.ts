import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { createPages } from 'countersign/pages'
import { expect, onTestFinished, test } from 'vitest'
import { openPagesBrowser } from '../../chain/support/pagesDesk.js'
import { findFaults } from '../../chain/support/shopPageChecks.js'
import {
  openSubscriptionShop,
  startSubscriptionChain,
} from '../../chain/support/subscriptionShop.js'

test('subscriptions are a list, and each leads to its charges and their proofs', async () => {
  const chain = await startSubscriptionChain()
  const shop = await openSubscriptionShop(chain)
  const browser = await openPagesBrowser()
  const servers: ReturnType<typeof createServer>[] = []
  onTestFinished(async () => {
    await browser.close()
    for (const server of servers) {
      server.closeAllConnections()
      server.close()
    }
    await shop.orders.close()
    await chain.stop()
  })
  const serve = async (more: { subscriptions?: typeof shop.subscriptions }) => {
    const pages = createPages(shop.orders, {
      payments: '/payments',
      name: 'Roastery',
      merchant: {
        authorize: () => ({ recipients: [shop.seller] }),
        ...more,
      },
    })
    const server = createServer(getRequestListener(pages))
    servers.push(server)
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve)
    })
    const { port } = server.address() as AddressInfo
    return `http://127.0.0.1:${port}/merchant/`
  }
  const { subscriptions } = shop
  const { id } = await shop.subscribe()
  await shop.workUntil(async () => {
    const { charges } = await subscriptions.charges({ subscriptionId: id })
    return charges[0]?.capture?.finality === 'finalized'
  })
  const { charges } = await subscriptions.charges({ subscriptionId: id })
  const [charge] = charges
  const page = await browser.open({ width: 1280, height: 900 })
  await page.goto(await serve({ subscriptions }))
  await page.getByRole('link', { name: 'Subscriptions' }).click()
  const row = page.locator(`[data-row="${id}"]`)
  await row.getByText('Active').waitFor()
  await row.getByText('10.00').waitFor()
  await row.getByText('every 16 min 40 s').waitFor()
  await row.getByRole('button', { name: /^Charges of/ }).click()
  const charged = page.locator(`[data-row="${charge?.id}"]`)
  await charged.getByText('Captured').waitFor()
  expect(await findFaults(page)).toEqual([])
  await charged.getByRole('link').click()
  await page.getByRole('list', { name: 'What happened' }).waitFor()

  // Each id that health can name leads to the page of what it names.
  await page.route('**/api/merchant/health', async (route) => {
    const response = await route.fetch()
    const health = await response.json()
    const reason = 'NodeError'
    health.destinations[0].putAside = [
      { what: id, subscriptionId: id, reason, since: '1' },
      { what: `sign:${charge?.id}`, reason, since: '1' },
      { what: 'reconciliation', reason, since: '1' },
    ]
    await route.fulfill({ json: health })
  })
  await page.getByRole('link', { name: 'Books' }).click()
  const health = page.getByRole('region', { name: 'Health' })
  await health.getByText(`Work on subscription ${id} failed`).waitFor()
  expect(await findFaults(page)).toEqual([])
  expect(await health.getByRole('link').count()).toBe(2)
  await health.getByRole('link', { name: 'Open the subscription' }).click()
  await page
    .getByRole('heading', { name: 'Subscription', exact: true })
    .waitFor()
  await page.locator(`[data-row="${id}"]`).getByText('Active').waitFor()
  await page.locator(`[data-row="${charge?.id}"]`).waitFor()
  expect(await findFaults(page)).toEqual([])
  await page.reload()
  await page.locator(`[data-row="${charge?.id}"]`).waitFor()
  await page.goBack()
  await health.getByRole('link', { name: 'Open the order' }).click()
  await page.getByRole('list', { name: 'What happened' }).waitFor()

  await page.goto(await serve({}))
  await page.getByRole('link', { name: 'Ceilings' }).waitFor()
  expect(await page.getByRole('link', { name: 'Subscriptions' }).count()).toBe(
    0,
  )
  expect(browser.takeProblems()).toEqual([])
})
