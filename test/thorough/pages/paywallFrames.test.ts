import { afterAll, expect, test } from 'vitest'
import { fundedAccount } from '../../chain/support/desk.js'
import { serveFraming, signInFrame } from '../../chain/support/framedPage.js'
import { openPagesBrowser } from '../../chain/support/pagesDesk.js'
import { openPaywallShop } from '../../chain/support/paywallDesk.js'
import { addTestWallet } from '../../chain/support/shopPageWallet.js'
import {
  balanceOf,
  chain,
  price,
  serveApp,
} from '../../chain/support/x402Desk.js'

const browser = await openPagesBrowser()
afterAll(() => browser.close())

const { around, elsewhere, frame: setFrame } = await serveFraming()
const { gate } = await openPaywallShop({ frameAncestors: [around, elsewhere] })
const url = await serveApp(
  gate.protect(
    'work',
    () =>
      new Response('<!doctype html><h1>Article</h1>', {
        headers: { 'content-type': 'text/html' },
      }),
  ),
)

async function openFrame(at: string, path: string, given = '') {
  setFrame(url + path, given)
  const account = await fundedAccount(chain, 2n * price)
  const page = await browser.open({ width: 800, height: 900 })
  await addTestWallet(page, account.address)
  await page.goto(at)
  return { account, page, frame: page.frameLocator('iframe') }
}

test.each([
  ['the same site', around, '/same'],
  ['another site', elsewhere, '/other'],
])(
  'in a frame of %s that the shop names, a buyer pays',
  async (_, at, path) => {
    const { account, page, frame } = await openFrame(at, path)
    await frame.getByRole('button', { name: 'Test wallet' }).click()
    await frame.getByRole('button', { name: /^Sign payment of/ }).click()
    await signInFrame(page, account)
    await frame.getByRole('heading', { name: 'Article' }).waitFor()
    await page.reload()
    await frame.getByRole('heading', { name: 'Article' }).waitFor()
    expect(await balanceOf(account.address)).toBe(price)
    await page.context().close()
  },
)

test('where the browser keeps no cookies, the page says so and leads to a window of its own, and nothing is signed', async () => {
  const { account, page, frame } = await openFrame(
    elsewhere,
    '/sandbox',
    'sandbox="allow-scripts allow-popups allow-popups-to-escape-sandbox"',
  )
  await frame
    .getByRole('heading', { name: 'Your browser keeps no cookies here' })
    .waitFor()
  expect(await frame.getByRole('button').count()).toBe(0)
  const [alone] = await Promise.all([
    page.waitForEvent('popup'),
    frame.getByRole('link', { name: 'Open in a window of its own' }).click(),
  ])
  await alone.getByRole('heading', { name: 'Pay Daily News' }).waitFor()
  expect(alone.url()).toBe(`${url}/sandbox`)
  expect(await balanceOf(account.address)).toBe(2n * price)
  await page.context().close()
})

test('in a frame of a site that the shop does not name, nothing shows', async () => {
  const { gate: shut } = await openPaywallShop()
  const other = await serveApp(shut.protect('work', () => new Response('no')))
  const { page } = await openFrame(around, '/')
  setFrame(other)
  await page.goto(around)
  await page.waitForLoadState('networkidle')
  expect(await page.frames().at(-1)?.locator('main').count()).toBe(0)
  await page.context().close()
})
