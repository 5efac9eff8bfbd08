import { afterAll, expect, test } from 'vitest'
import {
  authorize,
  button,
  captureNewest,
  chooseWallet,
  openDesk,
  orderFirst,
  reaches,
} from './shopPage.js'

const desk = await openDesk()
const { shop } = desk
afterAll(() => desk.close())

test('a payment goes from the wallet to the final block, on both pages', async () => {
  const buyer = await desk.openWindow()
  const merchant = await desk.openWindow()
  await merchant.page.goto(shop.merchantUrl)
  await orderFirst(buyer.page, shop)
  await chooseWallet(buyer.page)
  await button(buyer.page, 'Connect').click()
  const words = await buyer.page.getByRole('dialog').innerText()
  expect(words).toContain('exactly 12.50 USDC')
  expect(words).toMatch(/until \d\d:\d\d/)
  await button(buyer.page, 'Sign payment').click()
  await reaches(buyer.page, 'stored')
  await captureNewest(merchant.page)
  await reaches(buyer.page, 'finalized')
  expect(buyer.problems).toEqual([])
  expect(merchant.problems).toEqual([])
  expect((await shop.orders.audit()).ok).toBe(true)
})

test('a payment that is declined in the wallet can be tried again', async () => {
  const { page, problems } = await desk.openWindow()
  await orderFirst(page, shop)
  await chooseWallet(page)
  await button(page, 'Connect').click()
  await button(page, 'Reject').click()
  await page.getByText('You declined in your wallet').waitFor()
  await button(page, 'Authorize payment').click()
  await button(page, 'Sign payment').click()
  await reaches(page, 'stored')
  expect(problems).toEqual([])
})

test('a payment is canceled on the chain before it is captured', async () => {
  const { page } = await desk.openWindow()
  await orderFirst(page, shop)
  await authorize(page)
  await reaches(page, 'stored')
  await button(page, 'Cancel payment').click()
  await button(page, 'Sign cancellation').click()
  await reaches(page, 'canceled')
})
