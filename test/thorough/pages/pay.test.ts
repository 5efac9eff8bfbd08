import { afterAll, afterEach, expect, test } from 'vitest'
import {
  openPagesBrowser,
  openPagesDesk,
} from '../../chain/support/pagesDesk.js'
import { button } from '../../chain/support/shopPage.js'
import { addTestWallet } from '../../chain/support/shopPageWallet.js'

const desk = await openPagesDesk()
const browser = await openPagesBrowser()
afterAll(async () => {
  await browser.close()
  await desk.close()
})
afterEach(() => expect(browser.takeProblems()).toEqual([]))

test('a buyer pays by the link, and sees the charge become final', async () => {
  const { orders } = desk
  const returnUrl = 'https://shop.example/thanks/7'
  const { orderId, link } = await desk.draft({ returnUrl })
  const account = await desk.buyer()
  const page = await browser.open()
  const wallet = await addTestWallet(page, account.address)
  await page.goto(link)
  await button(page, 'Test wallet').click()
  await button(page, 'Sign payment of 12.50 USDC').click()
  await wallet.isAsked()
  await wallet.sign(account)
  await page.getByRole('heading', { name: 'Payment authorized' }).waitFor()
  await orders.capture({ orderId })
  await page.getByRole('heading', { name: /^Paid/ }).waitFor()
  await button(page, 'Print receipt').waitFor()
  const back = page.getByRole('link', { name: 'Back to the shop' })
  expect(await back.getAttribute('href')).toBe(returnUrl)
  expect((await orders.get({ orderId })).state).toBe('captured')
  await page.context().close()
})
