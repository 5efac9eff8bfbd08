import { afterAll, afterEach, expect, test } from 'vitest'
import {
  openPagesBrowser,
  openPagesDesk,
  type PagesDesk,
} from '../../chain/support/pagesDesk.js'
import { pay } from '../../chain/support/shop.js'
import { askCapture, button } from '../../chain/support/shopPage.js'
import { findFaults, tabTo } from '../../chain/support/shopPageChecks.js'

const desk: PagesDesk = await openPagesDesk({
  merchant: {
    authorize: () => ({
      recipients: [desk.chain.clients.merchant.account.address],
    }),
    write: true,
  },
})
const browser = await openPagesBrowser()
afterAll(async () => {
  await browser.close()
  await desk.close()
})
afterEach(() => expect(browser.takeProblems()).toEqual([]))

const { orders, url } = desk
const key = '#key=any'

/** An order whose buyer signed at most 50 USDC. */
async function placeCeiling(): Promise<string> {
  const buyer = await desk.buyer()
  const { order, payment } = await orders.draft({
    atMost: '50.00',
    payer: buyer.address,
  })
  const orderId = order.id
  const signed = { ...payment, ...(await pay(buyer, payment)) }
  const verdict = await orders.accept({ orderId, payment: signed })
  if (!verdict.ok) throw new Error(`not accepted: ${verdict.reason}`)
  return orderId
}

test('a merchant names the total of a ceiling, and no more than that', async () => {
  const orderId = await placeCeiling()
  const page = await browser.open({ width: 1280 })
  await page.goto(`${url}/merchant${key}`)
  const row = page.getByRole('row', { name: new RegExp(orderId) })
  await row.getByText('at most 50.00 USDC').waitFor()
  await askCapture(page).click()
  const dialog = page.getByRole('dialog')
  const amount = dialog.getByLabel(/^Amount/)
  // The page does not guess how much of a ceiling was captured.
  expect(await amount.inputValue()).toBe('')
  expect(await findFaults(page)).toEqual([])
  const capture = button(page, 'Capture now')
  await amount.fill('50.01')
  await capture.click()
  await dialog.getByText('The buyer signed at most 50.00 USDC.').waitFor()
  await amount.fill('much')
  await capture.click()
  await dialog.getByText('Enter an amount such as 50, with a').waitFor()
  await amount.fill('42.10')
  await capture.click()
  await row.getByText('42.10 USDC').waitFor()
  await row.getByText('of at most 50.00 USDC').waitFor()
  await page.goto(`${url}/merchant/orders/${orderId}${key}`)
  await page.getByText('The proof is valid').waitFor()
  const history = page.getByRole('list', { name: 'What happened' })
  await history.getByText('42.1 USDC').waitFor()
  await page.context().close()
})

test('an amount of a ceiling is captured with the keyboard only', async () => {
  const orderId = await placeCeiling()
  const page = await browser.open({ width: 1280 })
  await page.goto(`${url}/merchant${key}`)
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
  expect(await orders.get({ orderId })).toMatchObject({
    amount: '40.25',
    atMost: '50',
  })
  await page.context().close()
})
