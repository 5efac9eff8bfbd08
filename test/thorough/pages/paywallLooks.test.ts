import { honoPayment } from 'countersign/x402'
import { Hono } from 'hono'
import { afterAll, expect, test } from 'vitest'
import { countShifts, readShifts } from '../../chain/support/countShifts.js'
import { fundedAccount } from '../../chain/support/desk.js'
import { openPagesBrowser } from '../../chain/support/pagesDesk.js'
import { openPaywallShop } from '../../chain/support/paywallDesk.js'
import { button } from '../../chain/support/shopPage.js'
import {
  findFaults,
  findHidden,
  keyboards,
  tabTo,
} from '../../chain/support/shopPageChecks.js'
import { addTestWallet } from '../../chain/support/shopPageWallet.js'
import {
  balanceOf,
  chain,
  price,
  serveApp,
} from '../../chain/support/x402Desk.js'

const browser = await openPagesBrowser()
afterAll(() => browser.close())

const { gate } = await openPaywallShop(
  { terms: '/terms', accent: '#7a3b00' },
  {
    timeout: 500,
    offers: {
      work: { amount: '0.01', description: 'One article' },
      long: { amount: '0.02' },
    },
  },
)
const hono = new Hono()
const article = '<!doctype html><link rel="icon" href="data:,"><h1>Article</h1>'
hono.get('/both', honoPayment(gate, ['work', 'long']), (context) =>
  context.html(article),
)
const broken = gate.protect('work', () => {
  throw new Error('broken')
})
hono.get('/fails', (context) => broken(context.req.raw))
hono.get('/*', honoPayment(gate, 'work'), (context) => context.html(article))
const url = await serveApp(hono.fetch)

async function openBuyer(
  options: Parameters<typeof browser.open>[0] = {},
  funds = price,
) {
  const account = await fundedAccount(chain, funds)
  const page = await browser.open(options)
  const wallet = await addTestWallet(page, account.address)
  return { account, page, wallet }
}

test('what a buyer sees on the way is fit for everybody', async () => {
  const { page, wallet, account } = await openBuyer({}, 0n)
  await page.goto(`${url}/both`)
  await button(page, 'Test wallet').waitFor()
  expect(await findFaults(page)).toEqual([])
  await button(page, 'Test wallet').click()
  await page.getByRole('button', { name: /^Sign payment of/ }).click()
  await wallet.isAsked()
  await page.getByText('Everything you sign').click()
  await page.getByText('Payment that anyone can hand in').waitFor()
  expect(await findFaults(page)).toEqual([])
  await wallet.sign(account)
  await page.getByRole('heading', { name: /^Not enough money/ }).waitFor()
  expect(await findFaults(page)).toEqual([])
  await page.context().close()
})

test('the page on which nothing can be paid is fit for everybody', async () => {
  const { page, wallet, account } = await openBuyer()
  await page.goto(`${url}/fails`)
  await button(page, 'Test wallet').click()
  await button(page, 'Sign payment of 0.01 USDC').click()
  await wallet.isAsked()
  await wallet.sign(account)
  await page
    .getByRole('heading', { name: 'The shop could not deliver' })
    .waitFor()
  expect(await findFaults(page)).toEqual([])
  await page.context().close()
})

test.each(keyboards)('a buyer pays by keyboard, %s', async (_, options) => {
  const { page, wallet, account } = await openBuyer(options)
  await page.goto(`${url}/keyboard`)
  await button(page, 'Test wallet').waitFor()
  await tabTo(page, /^Test wallet$/)
  expect(await findHidden(page)).toBe(undefined)
  await page.keyboard.press('Enter')
  await button(page, 'Sign payment of 0.01 USDC').waitFor()
  await tabTo(page, /^Sign payment/)
  expect(await findHidden(page)).toBe(undefined)
  await page.keyboard.press('Enter')
  await wallet.isAsked()
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe(
    'Open your wallet to sign',
  )
  await wallet.sign(account)
  await page.getByRole('heading', { name: 'Article' }).waitFor()
  await page.context().close()
})

test.each([
  [390, 'light'],
  [390, 'dark'],
  [768, 'light'],
  [1280, 'light'],
] as const)(
  'the page moves by at most 0.05 while a buyer pays, %i wide, %s',
  async (width, theme) => {
    const { page, wallet } = await openBuyer({ width, theme })
    await countShifts(page)
    await page.goto(`${url}/shifts`)
    await button(page, 'Test wallet').click()
    await button(page, 'Sign payment of 0.01 USDC').click()
    await wallet.isAsked()
    const shifted = await readShifts(page)
    process.stdout.write(`CLS of the paywall: ${shifted.toFixed(4)}\n`)
    expect(shifted).toBeLessThanOrEqual(0.05)
    await page.context().close()
  },
)

test('German buyers read German', async () => {
  const { page } = await openBuyer({ locale: 'de-DE' })
  await page.goto(`${url}/german`)
  await page.getByRole('heading', { name: 'Daily News bezahlen' }).waitFor()
  expect(await page.locator('html').getAttribute('lang')).toBe('de')
  expect(await page.locator('main').innerText()).toContain('0,01')
  await page.context().close()
})

test('while the capture is not in a block, the page waits, and then shows the content by itself', async () => {
  const { page, wallet, account } = await openBuyer()
  await page.goto(`${url}/slow`)
  await button(page, 'Test wallet').click()
  await button(page, 'Sign payment of 0.01 USDC').click()
  await wallet.isAsked()
  const { test: control } = chain.clients
  await control.setAutomine(false)
  try {
    await wallet.sign(account)
    await page
      .getByRole('heading', { name: 'The shop is charging you' })
      .waitFor()
  } finally {
    await control.setAutomine(true)
    await control.mine({ blocks: 1 })
  }
  await page.getByRole('heading', { name: 'Article' }).waitFor()
  expect(await balanceOf(account.address)).toBe(0n)
  await page.context().close()
})
