import type { Page } from 'playwright-core'
import { afterAll, expect, test } from 'vitest'
import { countShifts, readShifts } from '../../chain/support/countShifts.js'
import { openDesk, orderFirst } from '../../chain/support/shopPage.js'
import { placeOrder } from '../../chain/support/shopPageOrders.js'

const desk = await openDesk()
const { shop } = desk
const key = new URL(shop.merchantUrl).hash
afterAll(() => desk.close())

const pages: Record<string, (page: Page) => Promise<void>> = {
  catalog: async (page) => {
    await page.goto(shop.url)
    await page.getByRole('list', { name: 'Products' }).waitFor()
  },
  'the page of an order': async (page) => {
    await orderFirst(page, shop)
    await page.reload()
    await page.getByRole('button', { name: 'Development wallet' }).waitFor()
  },
  'the merchant’s orders': async (page) => {
    await page.goto(shop.merchantUrl)
    await page
      .getByRole('button', { name: /^Capture order/ })
      .first()
      .waitFor()
  },
  books: async (page) => {
    await page.goto(`${shop.url}/merchant/books${key}`)
    await page.getByText('Your records match the chain exactly.').waitFor()
  },
}

test.each(
  [1280, 390].flatMap((width) =>
    Object.keys(pages).map((name) => [name, width] as const),
  ),
)(
  '%s moves by less than 0.1 as it loads, %i pixels wide',
  async (name, width) => {
    const [account] = shop.chain.accounts.slice(3)
    if (!account) throw new Error('no account left')
    await placeOrder(shop, { account, product: 'house-blend', amount: '12.50' })
    const { page } = await desk.openWindow({ width, height: 844 })
    await countShifts(page)
    await pages[name]?.(page)
    expect(await readShifts(page)).toBeLessThan(0.1)
    await page.close()
  },
)
