/**
 * Takes the pictures of the shop that the documentation shows.
 *
 *     npx tsx scripts/takeScreenshots.ts [folder]
 */
import { mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import type { Page } from 'playwright-core'
import { mine } from 'viem/actions'
import {
  askCapture,
  askWallet,
  button,
  captureNewest,
  isFinal,
  openDesk,
  orderFirst,
  reaches,
  type ShopDesk,
  type WindowOptions,
} from '../test/chain/support/shopPage.js'
import { placeOrder } from '../test/chain/support/shopPageOrders.js'

const [folder = 'docs/images'] = process.argv.slice(2)
mkdirSync(folder, { recursive: true })

const looks: readonly [string, WindowOptions][] = [
  ['', {}],
  ['-dark', { theme: 'dark' }],
  ['-phone', { width: 390, height: 844, scale: 2 }],
]

type Sale = readonly [
  product: Parameters<typeof placeOrder>[1]['product'],
  amount: string,
]

const beans: Sale = ['house-blend', '12.50']
const kit: Sale = ['pour-over-kit', '48.00']

/** What is bought, every two and a half minutes; the last are still open. */
const trade: readonly (readonly Sale[])[] = [
  [beans],
  [beans, beans],
  [kit],
  [beans],
  [kit, beans],
  [beans, beans, beans],
  [],
  [kit, kit],
  [beans],
  [kit, beans],
  [kit, beans],
  [beans, kit],
]

const desk = await openDesk()
try {
  const key = new URL(desk.shop.merchantUrl).hash
  for (const [look, options] of looks)
    await showBuyer(desk, look, { height: 880, ...options })
  const captured = await letTimePass(desk)
  for (const [look, options] of looks) {
    const { page } = await desk.openWindow({ height: 1250, ...options })
    await page.goto(desk.shop.merchantUrl)
    await page.getByText('Live').waitFor()
    await page.getByLabel('State').selectOption('open')
    await askCapture(page).waitFor()
    if (options.width)
      await page
        .getByRole('heading', { name: 'Orders found' })
        .evaluate((heading) => heading.closest('section')?.scrollIntoView())
    await take(page, `shop-merchant${look}`)
  }
  const { page } = await desk.openWindow({ height: 1200 })
  await page.goto(`${desk.shop.url}/merchant/orders/${captured}${key}`)
  await page.getByText('The proof is valid').waitFor()
  await take(page, 'shop-proof')
  await page.goto(`${desk.shop.url}/merchant/books`)
  await page.getByText('match the chain exactly').waitFor()
  await button(page, 'Reconcile now').click()
  await page.getByText('Nothing was missing.').waitFor()
  await take(page, 'shop-audit')
} finally {
  await desk.close()
}

/** A purchase from the order to the final block. */
async function showBuyer(
  { shop, openWindow }: ShopDesk,
  look: string,
  options: WindowOptions,
): Promise<void> {
  const { page } = await openWindow(options)
  await orderFirst(page, shop)
  await button(page, 'Development wallet').click()
  await page.getByRole('button', { name: /^Sign payment of/ }).waitFor()
  await take(page, `shop-checkout${look}`)
  if (look) return
  await page.reload()
  await askWallet(page)
  await take(page, 'shop-wallet')
  await button(page, 'Sign payment').click()
  await reaches(page, 'stored')
  const merchant = await openWindow()
  await merchant.page.goto(shop.merchantUrl)
  await captureNewest(merchant.page)
  await isFinal(page)
  await take(page, 'shop-paid')
  await merchant.context.close()
}

/** Half an hour of trade, for chain and shop alike. */
async function letTimePass({ shop }: ShopDesk): Promise<string> {
  const { now } = Date
  let ahead = 0
  Date.now = () => now() + ahead * 1000
  const { chain, orders } = shop
  const accounts = chain.accounts.slice(3)
  let captured = ''
  for (const [minute, sales] of trade.entries()) {
    for (const [at, [product, amount]] of sales.entries()) {
      const account = accounts[(minute + at) % accounts.length]
      if (!account) continue
      const orderId = await placeOrder(shop, { account, product, amount })
      if (minute >= trade.length - 2) continue
      await orders.capture({ orderId })
      captured = orderId
    }
    if (minute === trade.length - 1) break
    ahead += 150
    // The first of them still has the time before.
    await mine(chain.clients.test, { blocks: 6 })
  }
  return captured
}

async function take(page: Page, name: string): Promise<void> {
  const path = join(folder, `${name}.png`)
  await page.evaluate(() => document.fonts.ready.then(() => undefined))
  await page.screenshot({ path, caret: 'hide', animations: 'disabled' })
  console.log(`${(statSync(path).size / 1000).toFixed(0)} kB  ${path}`)
}
