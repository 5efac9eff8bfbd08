import { afterAll, afterEach, expect, test } from 'vitest'
import {
  button,
  captureNewest,
  openDesk,
} from '../../chain/support/shopPage.js'
import { findFaults, tabTo } from '../../chain/support/shopPageChecks.js'
import { placeOrder } from '../../chain/support/shopPageOrders.js'
import { showToMerchant } from '../../chain/support/shopPageStates.js'

const desk = await openDesk()
const { shop } = desk
const key = new URL(shop.merchantUrl).hash
afterAll(() => desk.close())
afterEach(() => expect(desk.takeProblems()).toEqual([]))

const accounts = shop.chain.accounts.slice(3)

/** A captured order, seen on the merchant's page of orders. */
async function openCaptured(at: number, amount: string) {
  const account = accounts[at]
  if (!account) throw new Error('no account left')
  const product = 'house-blend'
  const orderId = await placeOrder(shop, { account, product, amount })
  const { page } = await desk.openWindow()
  await page.goto(shop.merchantUrl)
  await captureNewest(page)
  const row = page.getByRole('row', { name: new RegExp(orderId) })
  const refund = row.getByRole('button', { name: /^Refund order/ })
  await refund.waitFor()
  const dialog = page.getByRole('dialog')
  const readRefunds = async () => (await shop.orders.get({ orderId })).refunds
  const payer = account.address
  return { page, orderId, payer, row, refund, dialog, readRefunds }
}

test('a captured order is refunded in part, and the dialog names order, amount and payer', async () => {
  const opened = await openCaptured(0, '21.00')
  const { page, orderId, payer, row, refund, dialog, readRefunds } = opened
  await refund.click()
  await dialog.getByRole('heading', { name: 'Refund this order?' }).waitFor()
  await dialog.getByTitle(orderId).waitFor()
  await dialog.getByTitle(new RegExp(payer, 'i')).waitFor()
  expect(await dialog.getByText('21', { exact: false }).count()).toBe(2)
  const amount = dialog.getByLabel(/^Amount/)
  expect(await amount.inputValue()).toBe('21')
  expect(await findFaults(page)).toEqual([])

  await amount.fill('much')
  await dialog.getByRole('button', { name: 'Refund' }).click()
  await dialog.getByText('Enter an amount such as 21, with a point.').waitFor()
  await amount.fill('21.000001')
  await dialog.getByRole('button', { name: 'Refund' }).click()
  await dialog.getByText('Only 21 USDC is left to refund.').waitFor()
  expect(await readRefunds()).toEqual([])

  await amount.fill('8.50')
  await dialog.getByLabel('Reason').selectOption('duplicate')
  await dialog.getByRole('button', { name: 'Refund' }).click()
  await page.getByText('Refund requested. It is sent once').waitFor()
  await row.getByText(/^(Refund (requested|sent)|Partly refunded)$/).waitFor()
  expect(await readRefunds()).toMatchObject([
    { amount: '8.5', to: payer.toLowerCase(), reason: 'duplicate' },
  ])

  await refund.click()
  expect(await amount.inputValue()).toBe('12.5')
  await button(page, 'Not now').click()
  await page.goto(`${shop.url}/merchant/orders/${orderId}${key}`)
  const history = page.getByRole('list', { name: 'What happened' })
  await history.getByText('8.5 USDC: paid twice').waitFor()
  await page.getByRole('heading', { name: 'Refunds' }).waitFor()
  await page.getByText('Left to refund: 12.50 USDC').waitFor()
  await page.getByText('Partly refunded').waitFor()
  await button(page, 'Copy refund’s transaction hash').waitFor()
  expect(await findFaults(page)).toEqual([])
  const [{ transfer } = {}] = await readRefunds()
  expect(transfer).toMatchObject({ submitter: expect.any(String) })
})

test('the books show the refunds of all orders beside the payments', async () => {
  const { page } = await desk.openWindow()
  await page.goto(`${shop.url}/merchant/books${key}`)
  await page.getByText('Your records match the chain exactly.').waitFor()
  const paidBack = page.locator('dt:text-is("Paid back") + dd')
  await paidBack.getByText('8.50').waitFor()
  await page.close()
})

test('a refund needs the keyboard only, and the focus comes back', async () => {
  const { page, orderId, refund, readRefunds } = await openCaptured(1, '7.00')
  await refund.focus()
  await page.keyboard.press('Enter')
  await page
    .getByRole('dialog')
    .getByLabel(/^Amount/)
    .waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'hidden' })
  expect(await readRefunds()).toEqual([])
  await page.keyboard.press('Enter')
  // The dialog begins in the amount, so it can be typed at once.
  await page.keyboard.press('ControlOrMeta+a')
  await page.keyboard.type('2.25')
  await tabTo(page, /^Refund$/)
  await page.keyboard.press('Enter')
  await page.getByText('Refund requested. It is sent once').waitFor()
  expect(await readRefunds()).toMatchObject([{ orderId, amount: '2.25' }])
})

test('a refund that gets no answer is tried again as the same refund', async () => {
  const opened = await openCaptured(2, '9.00')
  const { page, row, refund, dialog, readRefunds } = opened
  let answers = 0
  await page.route('**/refunds', async (route) => {
    answers += 1
    if (answers > 1) return route.continue()
    await route.fetch()
    return route.abort()
  })
  await refund.click()
  await dialog.getByLabel(/^Amount/).fill('3')
  await dialog.getByRole('button', { name: 'Refund' }).click()
  await row.getByText(/^Not refunded/).waitFor()
  await refund.click()
  await dialog.getByLabel(/^Amount/).fill('3')
  await dialog.getByRole('button', { name: 'Refund' }).click()
  await page.getByText('Refund requested. It is sent once').waitFor()
  expect(await readRefunds()).toHaveLength(1)
  desk.takeProblems()
})

test.each([
  ['refundLimit', 403, 'It is more than this key may refund today.'],
  ['refundForbidden', 403, 'This key may not refund.'],
  ['exceedsCaptured', 409, 'The amount is more than is left of the payment.'],
  ['notCaptured', 409, 'No payment of this order has arrived.'],
  ['refundConflict', 409, 'You already requested it with another amount.'],
])('a refund that is refused as %s says so in plain words', async (...it) => {
  const [reason, status, words] = it
  const account = accounts[3]
  if (!account) throw new Error('no account left')
  const { page } = await desk.openWindow()
  await showToMerchant(page, shop, [
    { order: { state: 'captured', refundable: '12500000' }, events: [] },
  ])
  await page.route('**/refunds', (route) =>
    route.fulfill({
      status,
      contentType: 'application/problem+json',
      json: { reason, status, detail: 'Not these words.' },
    }),
  )
  await page.goto(shop.merchantUrl)
  // The real orders of the tests before may appear at any time.
  await page.getByRole('button', { name: /^Refund order order-/ }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Refund' }).click()
  await page.getByRole('alert').getByText(words).waitFor()
  await page.close()
  desk.takeProblems()
})
