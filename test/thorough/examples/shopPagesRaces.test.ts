import type { Page } from 'playwright-core'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { afterAll, afterEach, expect, test } from 'vitest'
import { fundedAccount } from '../../chain/support/desk.js'
import {
  authorize,
  button,
  chooseWallet,
  openDesk,
  orderFirst,
  reaches,
} from '../../chain/support/shopPage.js'
import {
  addTestWallet,
  type TestWallet,
} from '../../chain/support/shopPageWallet.js'

const desk = await openDesk()
const { shop } = desk
afterAll(() => desk.close())
afterEach(() => expect(desk.takeProblems()).toEqual([]))

const orderIdOf = (page: Page): string =>
  new URL(page.url()).pathname.split('/').at(-1) ?? ''

/** A page whose order waits for a signature of a wallet that has money. */
async function openWithWallet(): Promise<{
  page: Page
  wallet: TestWallet
  account: PrivateKeyAccount
}> {
  const { page } = await desk.openWindow()
  const account = await fundedAccount(shop.chain, 50_000_000n)
  const wallet = await addTestWallet(page, account.address)
  await orderFirst(page, shop)
  await button(page, 'Authorize payment').click()
  await button(page, 'Test wallet').click()
  await wallet.isAsked()
  return { page, wallet, account }
}

/** The account that a tab's development wallet pays from. */
const readAccount = async (tab: Page): Promise<string> => {
  const memory = await tab.evaluate(() =>
    sessionStorage.getItem('development-wallet'),
  )
  const { keys } = JSON.parse(memory ?? '')
  return privateKeyToAccount(keys.everyday).address.toLowerCase()
}

test('who still signs in another tab is told that it is of no use, and nothing of it is sent', async () => {
  const { context, page } = await desk.openWindow()
  await orderFirst(page, shop)
  const other = await context.newPage()
  const posts: string[] = []
  other.on('request', (request) => {
    if (request.method() === 'POST') posts.push(new URL(request.url()).pathname)
  })
  await other.goto(page.url())
  await chooseWallet(other)
  await button(other, 'Connect').click()
  await button(other, 'Sign payment').waitFor()
  await authorize(page)
  await reaches(page, 'stored')
  await other.getByText('You no longer need to sign').waitFor()
  await button(other, 'Sign payment').click()
  await other.getByText('The shop did not use this signature').waitFor()
  await reaches(other, 'stored')
  expect(posts.filter((path) => path.startsWith('/payments'))).toEqual([])
  expect(
    await page.getByText('The shop did not use this signature').count(),
  ).toBe(0)
})

test('of two signatures at the same time one is accepted, and both tabs say so', async () => {
  const { context, page } = await desk.openWindow()
  await orderFirst(page, shop)
  const orderId = orderIdOf(page)
  const other = await context.newPage()
  await other.goto(page.url())
  for (const tab of [page, other]) {
    await chooseWallet(tab)
    await button(tab, 'Connect').click()
    await button(tab, 'Sign payment').waitFor()
  }
  await Promise.all(
    [page, other].map((tab) => button(tab, 'Sign payment').click()),
  )
  await reaches(page, 'stored')
  await reaches(other, 'stored')
  const told = await Promise.any(
    [page, other].map(async (tab) => {
      await tab.getByText('The shop did not use this signature').waitFor()
      return tab
    }),
  )
  const paid = told === page ? other : page
  expect(
    await paid.getByText('The shop did not use this signature').count(),
  ).toBe(0)
  const { payer } = await shop.orders.get({ orderId })
  expect(payer).toBe(await readAccount(paid))
  // The shop refuses whoever comes second.
  for (const problem of desk.takeProblems()) expect(problem).toMatch(/409|422/)
})

test('a wallet that is disconnected while it signs leaves an order that can be paid', async () => {
  const { page, wallet, account } = await openWithWallet()
  await wallet.show()
  await wallet.refuse(4100)
  await page.getByText('Your wallet did not sign').waitFor()
  await wallet.show(account.address)
  await button(page, 'Authorize payment').click()
  await button(page, 'Test wallet').click()
  await wallet.isAsked()
  await wallet.sign(account)
  await reaches(page, 'stored')
})

test('what a wallet signs with another account than asked is not accepted, and said so', async () => {
  const { page, wallet } = await openWithWallet()
  const other = await fundedAccount(shop.chain, 50_000_000n)
  await wallet.show(other.address)
  await wallet.sign(other)
  await page.getByText('Another account signed this payment').waitFor()
  expect((await shop.orders.get({ orderId: orderIdOf(page) })).state).toBe(
    'drafted',
  )
  expect(desk.takeProblems()).toEqual([expect.stringContaining('422')])
  await button(page, 'Authorize payment').click()
  await wallet.isAsked()
  await wallet.sign(other)
  await reaches(page, 'stored')
  const { payer } = await shop.orders.get({ orderId: orderIdOf(page) })
  expect(payer).toBe(other.address.toLowerCase())
})

test('an account that is switched while it signs still pays what it signed', async () => {
  const { page, wallet, account } = await openWithWallet()
  const other = await fundedAccount(shop.chain, 50_000_000n)
  await wallet.show(other.address)
  await wallet.sign(account)
  await reaches(page, 'stored')
  const { payer } = await shop.orders.get({ orderId: orderIdOf(page) })
  expect(payer).toBe(account.address.toLowerCase())
})

test('back and forward after a payment show how it stands, and a second order is its own', async () => {
  const { page } = await desk.openWindow()
  await orderFirst(page, shop)
  const first = page.url()
  await authorize(page)
  await reaches(page, 'stored')
  await page.goBack()
  await page.getByRole('list', { name: 'Products' }).waitFor()
  await page.goForward()
  await reaches(page, 'stored')
  await page.getByRole('link', { name: 'All products' }).click()
  await button(page, 'Order Pour-Over Kit').click()
  await button(page, 'Authorize payment').waitFor()
  expect(page.url()).not.toBe(first)
  await page.getByRole('main').getByText('48.00').first().waitFor()
  await button(page, 'Authorize payment').click()
  await page.getByText('exactly 48.00 USDC').waitFor()
  await button(page, 'Sign payment').click()
  await reaches(page, 'stored')
  const { orders } = await shop.orders.list({ limit: 2 })
  expect(orders.map(({ amount, state }) => [amount, state])).toEqual([
    ['48', 'stored'],
    ['12.5', 'stored'],
  ])
  expect(new Set(orders.map(({ payer }) => payer)).size).toBe(1)
})

test('whoever chooses another product, or leaves, is not taken to the order of before', async () => {
  const { page } = await desk.openWindow()
  const gone: string[] = []
  page.on('requestfailed', (request) => {
    if (request.url().endsWith('/shop/orders'))
      gone.push(request.postData() ?? '')
  })
  const held: string[] = []
  await page.route('**/shop/orders', async (route) => {
    held.push(route.request().postData() ?? '')
    // The first and the last wait for an answer that never comes.
    if (held.length === 2) await route.continue()
  })
  await page.goto(shop.url)
  await button(page, 'Order House Blend, 250 g').click()
  await button(page, 'Order Pour-Over Kit').click()
  await button(page, 'Authorize payment').waitFor()
  await page.getByRole('main').getByText('48.00').first().waitFor()
  await page.getByRole('link', { name: 'All products' }).click()
  await button(page, 'Order House Blend, 250 g').click()
  await expect.poll(() => held.length).toBe(3)
  await page.goBack()
  await button(page, 'Authorize payment').waitFor()
  const product = JSON.stringify({ product: 'house-blend' })
  await expect.poll(() => gone).toEqual([product, product])
})
