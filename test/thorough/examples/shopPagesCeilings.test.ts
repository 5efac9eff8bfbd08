import type { Page } from 'playwright-core'
import { afterAll, afterEach, expect, test } from 'vitest'
import {
  askCapture,
  button,
  openDesk,
  reaches,
} from '../../chain/support/shopPage.js'
import { findFaults, tabTo } from '../../chain/support/shopPageChecks.js'

const desk = await openDesk()
const { shop } = desk
afterAll(() => desk.close())
afterEach(() => expect(desk.takeProblems()).toEqual([]))

/** Orders the product whose shipping is added later, as far as the signature. */
async function orderCrate(page: Page): Promise<string> {
  await page.goto(shop.url)
  await button(page, 'Order Mixed Crate').click()
  await page.getByRole('button', { name: 'Development wallet' }).click()
  await button(page, 'Connect').click()
  await button(page, 'Authorize payment').waitFor()
  return new URL(page.url()).pathname.split('/').at(-1) ?? ''
}

async function sign(page: Page): Promise<void> {
  await button(page, 'Authorize payment').click()
  await button(page, 'Sign payment').click()
  await reaches(page, 'stored')
}

test('a buyer signs at most an amount, and pays the total that the merchant names', async () => {
  const { page } = await desk.openWindow()
  const orderId = await orderCrate(page)
  const main = page.getByRole('main')
  await main.getByText('You sign a maximum now.').waitFor()
  expect(await main.getByText('at most 50.00 USDC').count()).toBe(2)
  expect(await findFaults(page)).toEqual([])
  await button(page, 'Authorize payment').click()
  const words = await page.getByRole('dialog').innerText()
  expect(words).toContain('at most 50.00 USDC, once, until')
  await button(page, 'Sign payment').click()
  await reaches(page, 'stored')

  const merchant = await desk.openWindow()
  await merchant.page.goto(shop.merchantUrl)
  const row = merchant.page.getByRole('row', { name: new RegExp(orderId) })
  await row.getByText('at most 50.00 USDC').waitFor()
  await askCapture(merchant.page).click()
  const dialog = merchant.page.getByRole('dialog')
  const amount = dialog.getByLabel(/^Amount/)
  // The page does not guess how much of a ceiling was captured.
  expect(await amount.inputValue()).toBe('')
  expect(await findFaults(merchant.page)).toEqual([])
  const capture = button(merchant.page, 'Capture now')
  await amount.fill('50.01')
  await capture.click()
  await dialog.getByText('The buyer signed at most 50.00 USDC.').waitFor()
  await amount.fill('much')
  await capture.click()
  await dialog.getByText('Enter an amount such as 50, with a').waitFor()
  await amount.fill('42.10')
  await capture.click()

  await reaches(page, 'included', 'safe', 'finalized')
  await main.getByText('42.10 USDC').waitFor()
  await row.getByText('42.10 USDC').waitFor()
  await row.getByText('of at most 50.00 USDC').waitFor()
  const proof = `${shop.url}/merchant/orders/${orderId}`
  await merchant.page.goto(`${proof}${new URL(shop.merchantUrl).hash}`)
  await merchant.page.getByText('The proof is valid').waitFor()
  const history = merchant.page.getByRole('list', { name: 'What happened' })
  await history.getByText('42.1 USDC').waitFor()
})

test('an amount of a ceiling is captured with the keyboard only', async () => {
  const { page } = await desk.openWindow()
  const orderId = await orderCrate(page)
  await sign(page)
  await page.goto(shop.merchantUrl)
  await askCapture(page).focus()
  await page.keyboard.press('Enter')
  await page
    .getByRole('dialog')
    .getByLabel(/^Amount/)
    .waitFor()
  // The dialog starts in the amount, so it can be typed at once.
  await page.keyboard.press('ControlOrMeta+a')
  await page.keyboard.type('40.25')
  await tabTo(page, /^Capture now$/)
  await page.keyboard.press('Enter')
  const row = page.getByRole('row', { name: new RegExp(orderId) })
  await row.getByText('40.25 USDC').waitFor()
  expect(await shop.orders.get({ orderId })).toMatchObject({
    amount: '40.25',
    atMost: '50',
  })
})

test('a buyer takes a ceiling back before it is captured', async () => {
  const { page } = await desk.openWindow()
  await orderCrate(page)
  await sign(page)
  await button(page, 'Cancel payment').click()
  const words = await page.getByRole('dialog').innerText()
  expect(words).toContain('your payment of at most 50.00 USDC')
  await button(page, 'Sign cancellation').click()
  await reaches(page, 'canceled')
})
