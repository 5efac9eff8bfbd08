import { honoPayment } from 'countersign/x402'
import { Hono } from 'hono'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, expect, test } from 'vitest'
import { fundedAccount } from '../../chain/support/desk.js'
import { openPagesBrowser } from '../../chain/support/pagesDesk.js'
import { openPaywallShop } from '../../chain/support/paywallDesk.js'
import { button } from '../../chain/support/shopPage.js'
import { addTestWallet } from '../../chain/support/shopPageWallet.js'
import {
  balanceOf,
  chain,
  price,
  serveApp,
} from '../../chain/support/x402Desk.js'

const browser = await openPagesBrowser()
afterAll(() => browser.close())
/** Chromium prints each 402 answer. Any other message is a fault. */
const problems = () =>
  browser.takeProblems().filter((one) => !/status of 402/.test(one))
afterEach(() => expect(problems()).toEqual([]))

const { gate } = await openPaywallShop()
const hono = new Hono()
hono.get('/*', honoPayment(gate, 'work'), (context) =>
  context.html(
    '<!doctype html><link rel="icon" href="data:,"><h1>Article</h1>',
  ),
)
const url = await serveApp(hono.fetch)

async function openBuyer() {
  const account = await fundedAccount(chain, 2n * price)
  const page = await browser.open()
  const wallet = await addTestWallet(page, account.address)
  const pay = async () => {
    await button(page, 'Test wallet').click()
    await page.getByRole('button', { name: /^Sign payment of/ }).click()
    await wallet.isAsked()
    await wallet.sign(account)
  }
  return { account, page, pay }
}

const article = (page: Page) =>
  page.getByRole('heading', { name: 'Article' }).waitFor()

/** Has the browser send no cookies with the next request of a page. */
async function sendWithoutCookies(page: Page): Promise<void> {
  await page.route(
    '**',
    async (route) => {
      const headers = { ...route.request().headers(), cookie: '' }
      const answer = await route.fetch({ headers })
      await route.fulfill({ response: answer })
    },
    { times: 1 },
  )
}

test('a window that is loaded again while another stores a payment keeps it, and shows the content', async () => {
  const { page, pay, account } = await openBuyer()
  const second = await page.context().newPage()
  await second.goto(`${url}/again`)
  await page.goto(`${url}/again`)
  await pay()
  await article(page)
  // Its request left before the payment was stored.
  await sendWithoutCookies(second)
  await second.reload()
  await article(second)
  expect(await page.context().cookies(`${url}/again`)).toHaveLength(1)
  expect((await page.reload())?.status()).toBe(200)
  expect(await balanceOf(account.address)).toBe(price)
  await page.context().close()
})

test('a shop that receives no cookies gets a payment once, and the page says so', async () => {
  const { page, pay, account } = await openBuyer()
  await page.route('**', async (route) => {
    const headers = { ...route.request().headers(), cookie: '' }
    await route.fulfill({ response: await route.fetch({ headers }) })
  })
  await page.goto(`${url}/nothing`)
  await pay()
  await page
    .getByRole('heading', { name: 'The shop did not receive your payment' })
    .waitFor()
  expect(await page.context().cookies()).toEqual([])
  expect(await balanceOf(account.address)).toBe(2n * price)
  await page.context().close()
})

test.each([
  ['that is no payment', 'x', '/'],
  ['for this path alone', 'x', '/planted/1'],
])(
  'a cookie of another subdomain %s is removed, and the buyer pays',
  async (_, value, path) => {
    const at = url.replace('127.0.0.1', 'news.shop.localhost')
    const { page, pay, account } = await openBuyer()
    const answer = await page.goto(`${at}/planted/1`)
    const [, name = ''] =
      /&quot;cookie&quot;:&quot;([^&]+)&quot;/.exec(
        (await answer?.text()) ?? '',
      ) ?? []
    await page
      .context()
      .addCookies([{ name, value, path, domain: '.shop.localhost' }])
    await page.reload()
    await page
      .getByRole('heading', { name: 'The shop refused your request' })
      .waitFor()
    expect(await page.context().cookies()).toEqual([])
    await pay()
    await article(page)
    expect(await balanceOf(account.address)).toBe(price)
    await page.context().close()
  },
)
