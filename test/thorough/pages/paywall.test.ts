import { readFileSync } from 'node:fs'
import { expressPayment, honoPayment } from 'countersign/x402'
import { Hono } from 'hono'
import type { Page } from 'playwright-core'
import type { PrivateKeyAccount } from 'viem'
import { afterAll, afterEach, expect, test } from 'vitest'
import { fundedAccount } from '../../chain/support/desk.js'
import { serveExpress } from '../../chain/support/expressServer.js'
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
  browser.takeProblems().filter((one) => !/status of (402|503)/.test(one))
afterEach(() => expect(problems()).toEqual([]))

const { gate } = await openPaywallShop(
  {},
  {
    offers: {
      work: { amount: '0.01', description: 'One article' },
      long: { amount: '0.02', description: 'One article, and thanks' },
    },
  },
)
let runs = 0
/**
 * The content has its own policy and script, which the page must not change.
 */
const article = () =>
  `<!doctype html><link rel="icon" href="data:,"><h1>Article ${++runs}</h1><script>document.title = 'read'</script>`

const hono = new Hono()
hono.get('/free', (context) => context.html('<h1>Free</h1>'))
hono.get('/plain/*', honoPayment(gate, 'work'), (context) =>
  context.text(`Text ${++runs}`),
)
hono.get('/file', honoPayment(gate, 'work'), (context) =>
  context.body(`File ${++runs}`, 200, {
    'content-disposition': 'attachment; filename="file.txt"',
  }),
)
hono.get('/both', honoPayment(gate, ['work', 'long']), (context) =>
  context.html(article()),
)
hono.get('/*', honoPayment(gate, 'work'), (context) => context.html(article()))

const urls = {
  Hono: await serveApp(hono.fetch),
  Express: await serveExpress((app) => {
    app.get(/.*/, expressPayment(gate, 'work'), (_, response) => {
      response.type('html').send(article())
    })
  }),
} as const

type Buyer = {
  account: PrivateKeyAccount
  page: Page
  wallet: Awaited<ReturnType<typeof addTestWallet>>
}

async function openBuyer(times = 2n, theme?: 'dark'): Promise<Buyer> {
  const account = await fundedAccount(chain, times * price)
  const page = await browser.open(theme ? { theme } : {})
  const wallet = await addTestWallet(page, account.address)
  return { account, page, wallet }
}

async function pay({ page, wallet, account }: Buyer): Promise<void> {
  await button(page, 'Test wallet').click()
  await page.getByRole('button', { name: /^Sign payment of/ }).click()
  await wallet.isAsked()
  await wallet.sign(account)
}

test.each(Object.entries(urls))(
  '%s: a buyer pays at the address, sees the content, and again when it is loaded again',
  async (_, url) => {
    const buyer = await openBuyer()
    const { page, account } = buyer
    const before = runs
    const answer = await page.goto(`${url}/news/1`)
    expect(answer?.status()).toBe(402)
    const main = page.locator('main')
    await page.getByRole('heading', { name: 'Pay Daily News' }).waitFor()
    const text = await main.innerText()
    for (const words of ['0.01', 'One article', 'Daily News', '5:00 minutes'])
      expect(text).toContain(words)
    await pay(buyer)
    await page.getByRole('heading', { name: `Article ${before + 1}` }).waitFor()
    expect(await page.title()).toBe('read')
    expect(await balanceOf(account.address)).toBe(price)
    const again = await page.reload()
    expect(again?.status()).toBe(200)
    await page.getByRole('heading', { name: `Article ${before + 1}` }).waitFor()
    expect(runs).toBe(before + 1)
    expect(await balanceOf(account.address)).toBe(price)
    await page.context().close()
  },
)

test('a payment opens its own address, and none below it or with another query', async () => {
  const buyer = await openBuyer()
  const { page, account } = buyer
  await page.goto(`${urls.Hono}/a?day=1`)
  await pay(buyer)
  await page.getByRole('heading', { name: /^Article/ }).waitFor()
  for (const path of ['/a/b', '/a?day=2', '/a']) {
    const answer = await page.goto(urls.Hono + path)
    expect(answer?.status()).toBe(402)
    await button(page, 'Test wallet').waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
  }
  expect((await page.goto(`${urls.Hono}/a?day=1`))?.status()).toBe(200)
  expect(await balanceOf(account.address)).toBe(price)
  await page.context().close()
})

test('many payments at one address do not make requests too long for servers', async () => {
  const buyer = await openBuyer(12n)
  const { page, account } = buyer
  for (let day = 0; day < 12; day++) {
    await page.goto(`${urls.Hono}/days?day=${day}`)
    await pay(buyer)
    await page.getByRole('heading', { name: /^Article/ }).waitFor()
  }
  const cookies = await page.context().cookies(`${urls.Hono}/days`)
  const length = cookies.reduce((sum, { value }) => sum + value.length, 0)
  expect(length).toBeLessThan(5_000)
  expect((await page.goto(`${urls.Hono}/days?day=11`))?.status()).toBe(200)
  expect(await balanceOf(account.address)).toBe(0n)
  await page.context().close()
})

test('a window that still shows the page after another has paid shows the content, unpaid again', async () => {
  const buyer = await openBuyer()
  const { page, account } = buyer
  const second = await page.context().newPage()
  const wallet = await addTestWallet(second, account.address)
  await second.goto(`${urls.Hono}/two`)
  await button(second, 'Test wallet').click()
  await second.getByRole('button', { name: /^Sign payment of/ }).click()
  await wallet.isAsked()
  await page.goto(`${urls.Hono}/two`)
  await pay(buyer)
  await page.getByRole('heading', { name: /^Article/ }).waitFor()
  await wallet.sign(account)
  await second.getByRole('heading', { name: /^Article/ }).waitFor()
  expect(await balanceOf(account.address)).toBe(price)
  await page.context().close()
})

test('a refused payment gets the page again, which says why, and the next one pays', async () => {
  const buyer = await openBuyer(0n)
  const { page, account } = buyer
  await page.goto(`${urls.Hono}/poor`)
  await pay(buyer)
  await page
    .getByRole('heading', { name: 'Not enough money in this account' })
    .waitFor()
  expect(await page.context().cookies()).toEqual([])
  const rich = await fundedAccount(chain, price)
  await buyer.wallet.show(rich.address)
  await pay({ ...buyer, account: rich })
  await page.getByRole('heading', { name: /^Article/ }).waitFor()
  expect(await balanceOf(rich.address)).toBe(0n)
  expect(await balanceOf(account.address)).toBe(0n)
  await page.context().close()
})

test('a buyer who declines pays nothing and can try again', async () => {
  const buyer = await openBuyer()
  const { page, wallet, account } = buyer
  await page.goto(`${urls.Hono}/declined`)
  await button(page, 'Test wallet').click()
  await button(page, 'Sign payment of 0.01 USDC').click()
  await wallet.isAsked()
  await wallet.refuse(4001)
  await page.getByRole('heading', { name: /^You declined/ }).waitFor()
  expect(await balanceOf(account.address)).toBe(2n * price)
  await button(page, 'Sign payment of 0.01 USDC').click()
  await wallet.isAsked()
  await wallet.sign(account)
  await page.getByRole('heading', { name: /^Article/ }).waitFor()
  await page.context().close()
})

test('of several offers the buyer chooses one', async () => {
  const buyer = await openBuyer()
  const { page, account } = buyer
  await page.goto(`${urls.Hono}/both`)
  await page.getByRole('radio', { name: /^0\.02/ }).check()
  await pay(buyer)
  await page.getByRole('heading', { name: /^Article/ }).waitFor()
  expect(await balanceOf(account.address)).toBe(0n)
  await page.context().close()
})

test('of offers on several networks, the page chooses the one on the wallet’s network', async () => {
  const buyer = await openBuyer()
  const { page, account } = buyer
  // Moves the first offer to a network that this wallet is not on.
  await page.route('**/both', async (route) => {
    const answer = await route.fetch()
    const body = (await answer.text())
      .replace('eip155:31337', 'eip155:8453')
      .replace(
        '&quot;tokens&quot;:[{',
        `&quot;tokens&quot;:[{&quot;chainId&quot;:8453,&quot;chain&quot;:&quot;Base&quot;,&quot;token&quot;:&quot;${chain.token.toLowerCase()}&quot;,&quot;symbol&quot;:&quot;USDC&quot;,&quot;decimals&quot;:6},{`,
      )
    await route.fulfill({ response: answer, body })
  })
  await page.goto(`${urls.Hono}/both`)
  expect(await page.getByRole('radio', { name: /Base$/ }).isChecked()).toBe(
    true,
  )
  await button(page, 'Test wallet').click()
  await button(page, 'Sign payment of 0.02 USDC').waitFor()
  await page.unroute('**/both')
  await page.getByRole('button', { name: /^Sign payment of/ }).click()
  await buyer.wallet.isAsked()
  await buyer.wallet.sign(account)
  await page.getByRole('heading', { name: /^Article/ }).waitFor()
  expect(await balanceOf(account.address)).toBe(0n)
  await page.context().close()
})

test('the browser itself shows an answer that is not HTML', async () => {
  const buyer = await openBuyer()
  const { page } = buyer
  await page.goto(`${urls.Hono}/plain/1`)
  await pay(buyer)
  await page.getByText(/^Text \d+$/).waitFor()
  await page.context().close()
})

test('a file is downloaded, again without another payment, and the page says that this may have happened', async () => {
  const buyer = await openBuyer()
  const { page, account } = buyer
  await page.goto(`${urls.Hono}/file`)
  const read = async (start: () => Promise<unknown>): Promise<string> => {
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      start(),
    ])
    return readFileSync(await download.path(), 'utf8')
  }
  const first = await read(() => pay(buyer))
  await page.getByText('If a download has begun').waitFor()
  expect(await read(() => button(page, 'Try again').click())).toBe(first)
  expect(first).toBe(`File ${runs}`)
  expect(await balanceOf(account.address)).toBe(price)
  await page.context().close()
})

test.each(['/', '/odd;v=1/ü%20x', '/odd;v=1', '/slash/'])(
  'an address such as %s is paid once',
  async (path) => {
    const buyer = await openBuyer()
    const { page, account } = buyer
    await page.goto(urls.Hono + path)
    await pay(buyer)
    await page.getByRole('heading', { name: /^Article/ }).waitFor()
    expect((await page.reload())?.status()).toBe(200)
    expect(await balanceOf(account.address)).toBe(price)
    await page.context().close()
  },
)
