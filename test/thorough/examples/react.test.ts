import { fileURLToPath } from 'node:url'
import { createServer, type ViteDevServer } from 'vite'
import { afterAll, afterEach, expect, test } from 'vitest'
import { offer } from '../../../examples/react/src/offer.js'
import {
  openPagesBrowser,
  openPagesDesk,
} from '../../chain/support/pagesDesk.js'
import { button } from '../../chain/support/shopPage.js'
import { addTestWallet } from '../../chain/support/shopPageWallet.js'

const desk = await openPagesDesk()
const browser = await openPagesBrowser()
const site = await startSite(desk.url)
afterAll(async () => {
  await site.close()
  await browser.close()
  await desk.close()
})
afterEach(() => expect(browser.takeProblems()).toEqual([]))

/** The unchanged example, connected to the shop of the test. */
async function startSite(shop: string): Promise<ViteDevServer> {
  const root = fileURLToPath(
    new URL('../../../examples/react', import.meta.url),
  )
  const server = await createServer({
    root,
    configFile: `${root}/vite.config.ts`,
    logLevel: 'warn',
    server: {
      host: '127.0.0.1',
      port: 0,
      proxy: { '/payments': { target: shop, changeOrigin: false } },
    },
  })
  return server.listen()
}

test('an order is paid in the React example, by a wallet that wagmi found', async () => {
  const { orders } = desk
  const { orderId, buyerToken } = await desk.draft({ amount: offer.amount })
  expect((await orders.get({ orderId })).recipient).toBe(offer.to.toLowerCase())
  const account = await desk.buyer()
  const page = await browser.open()
  const wallet = await addTestWallet(page, account.address)
  const [url] = site.resolvedUrls?.local ?? []
  await page.goto(`${url}#${orderId}.${buyerToken}`)
  const status = page.getByRole('status')
  // wagmi connects to a wallet that already shows the page an account.
  await button(page, 'Authorize payment').click()
  await wallet.isAsked()
  await wallet.refuse(4001)
  await page.getByRole('alert').waitFor()
  await button(page, 'Authorize payment').click()
  await wallet.isAsked()
  await wallet.sign(account)
  await expect.poll(() => status.textContent()).toBe('Payment authorized')
  await orders.capture({ orderId })
  await expect.poll(() => status.textContent()).toMatch(/^Paid/)
  await page.context().close()
})
