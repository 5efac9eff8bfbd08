import { readFile } from 'node:fs/promises'
import { afterAll, afterEach, expect, test } from 'vitest'
import { contextOf } from '../../../src/orders/engine.js'
import {
  button,
  captureNewest,
  openDesk,
} from '../../chain/support/shopPage.js'
import { findFaults, tabTo } from '../../chain/support/shopPageChecks.js'
import { placeOrder } from '../../chain/support/shopPageOrders.js'

const desk = await openDesk()
const { shop } = desk
const key = new URL(shop.merchantUrl).hash
afterAll(() => desk.close())
afterEach(() => expect(desk.takeProblems()).toEqual([]))

const accounts = shop.chain.accounts.slice(3)
const place = (at: number, amount: string): Promise<string> => {
  const account = accounts[at]
  if (!account) throw new Error('no account left')
  return placeOrder(shop, { account, product: 'pour-over-kit', amount })
}

test('a bar of what expires opens the list of its orders, by keyboard too', async () => {
  const { page } = await desk.openWindow()
  await page.goto(shop.merchantUrl)
  await page.getByText('No orders here').waitFor()
  const first = await place(0, '48.00')
  await place(1, '30.00')
  const card = page.getByRole('region', { name: /by deadline$/ })
  const bar = card.getByText('within 15 minutes, 2 orders')
  await bar.waitFor()
  await card.getByText('78.00 USDC').waitFor()
  expect(await card.getByRole('row').count()).toBe(0)
  await tabTo(page, /within 15 minutes/)
  await page.keyboard.press('Enter')
  const row = card.getByRole('row', { name: new RegExp(first) })
  await row.waitFor()
  expect(await findFaults(page)).toEqual([])

  await row.getByRole('button', { name: /^Void/ }).click()
  await button(page, 'Void the order').click()
  await card.getByText('within 15 minutes, 1 order').waitFor()
  await row.waitFor({ state: 'detached' })
})

test('income and gas of today are in the picture, the table and the CSV', async () => {
  const { page } = await desk.openWindow()
  await page.goto(shop.merchantUrl)
  await captureNewest(page)
  await page.getByRole('img', { name: /1 captures?, 30.00 USDC/ }).waitFor()
  await page.goto(`${shop.url}/merchant/books${key}`)
  const card = page.getByRole('region', { name: 'Income and fees by day' })
  await card
    .getByRole('img', { name: /USDC.*Captured 30\.00 USDC, refunded 0\.00/ })
    .waitFor()
  await card.getByRole('img', { name: /^Gas in .*Paid 0\.0/ }).waitFor()
  await card.getByText('your time zone, UTC').waitFor()
  await card.getByText('Show the figures by day').click()
  const figures = card.getByRole('table', { name: 'Income and fees by day' })
  const cells = await figures.getByRole('row').allInnerTexts()
  expect(cells[1]).toMatch(
    /^\d{4}-\d\d-\d\d\t31337\t1\t30\.00 USDC\t0\.00 USDC\t0\.00 USDC\t30\.00 USDC$/,
  )
  // Gas is shown in few digits; the title and the CSV have all of them.
  expect(cells[2]).toMatch(/\t0\.0*[1-9]\d{0,3} \S+\t-0\.0*[1-9]\d{0,3} \S+$/)
  await figures.locator('[title^="-0.00"]').waitFor()
  expect(await findFaults(page)).toEqual([])

  const [file] = await Promise.all([
    page.waitForEvent('download'),
    button(page, 'Income as CSV').click(),
  ])
  expect(file.suggestedFilename()).toBe('income.csv')
  const [head, ...lines] = (await readFile(await file.path(), 'utf8')).split(
    '\r\n',
  )
  expect(head).toMatch(/^day,timeZone,.*,net$/)
  expect(lines[0]).toMatch(/,UTC,31337,0x\w{40},USDC,1,30,0,0,30$/)
  expect(lines[1]).toMatch(/,UTC,31337,,\w+,0,0,0,0\.\d+,-0\.\d+$/)

  await card.getByLabel('90 days').check()
  await card.getByRole('img', { name: /Captured 30\.00 USDC/ }).waitFor()
})

test('a webhook target shows what it holds up, since when, and its last status', async () => {
  const { store } = contextOf(shop.orders).context
  await store.write(async (tables) => {
    await tables.setValue('webhook:warehouse', { read: '3', open: ['1'] })
    await tables.setValue('webhook:warehouse failure', {
      at: String(Date.now()),
      reason: 'statusRefused',
      status: 503,
    })
  })
  const { page } = await desk.openWindow()
  await page.goto(`${shop.url}/merchant/books${key}`)
  const card = page.getByRole('region', { name: 'Webhooks' })
  await card.getByRole('heading', { name: 'warehouse' }).waitFor()
  await card.getByText(/^since /).waitFor()
  await card.getByText(/^event 0 of \d+$/).waitFor()
  await card.getByText(/^status 503, /).waitFor()
  expect(await findFaults(page)).toEqual([])
  await card
    .getByText(/^drafted of /)
    .getByRole('link')
    .click()
  await page.getByRole('list', { name: 'What happened' }).waitFor()
})
