import { erc20Abi } from 'viem'
import { readContract } from 'viem/actions'
import { afterAll, afterEach, expect, test } from 'vitest'
import {
  askCapture,
  askWallet,
  authorize,
  button,
  captureNewest,
  isFinal,
  openDesk,
  orderFirst,
  orderIdOf,
  reaches,
} from '../../chain/support/shopPage.js'

const desk = await openDesk()
const { shop } = desk
afterAll(() => desk.close())
afterEach(() => expect(desk.takeProblems()).toEqual([]))

/** Token units that reached the merchant. */
const getEarned = (): Promise<bigint> =>
  readContract(shop.chain.clients.public, {
    address: shop.chain.token,
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [shop.chain.clients.merchant.account.address],
  })

test('a buyer fills a basket, pays, comes back to the order, and sees it become final', async () => {
  const before = await getEarned()
  const { page } = await desk.openWindow()
  const merchant = await desk.openWindow()
  await merchant.page.goto(shop.merchantUrl)
  const blend = 'House Blend, 250 g'
  await page.goto(shop.url)
  await button(page, `Add ${blend} to basket`).click()
  await button(page, 'Add Pour-Over Kit to basket').click()
  await page.getByRole('link', { name: 'Basket (2)' }).click()
  await button(page, `One ${blend} more`).click()
  await button(page, 'One Pour-Over Kit less').click()
  await button(page, 'Check out').click()

  await askWallet(page)
  const words = await page.getByRole('dialog').innerText()
  expect(words).toContain('25.00 USDC')
  const seller = shop.chain.clients.merchant.account.address
  expect(words.toLowerCase()).toContain(seller.toLowerCase())
  await button(page, 'Sign payment').click()
  await page.getByText('We roast it now, and charge you').waitFor()
  await page.getByRole('link', { name: 'Products' }).click()
  await page.getByRole('link', { name: 'Basket (0)' }).waitFor()

  await page.getByRole('link', { name: 'Orders', exact: true }).click()
  const orders = page.getByRole('list', { name: 'Your orders' })
  await orders.getByText('Payment authorized').waitFor()
  await orders.getByRole('link', { name: `2 × ${blend}` }).click()
  await reaches(page, 'stored')
  await captureNewest(merchant.page)
  await isFinal(page)
  await page.getByText('It is paid and on its way to you.').waitFor()
  await page.reload()
  await isFinal(page)
  expect((await getEarned()) - before).toBe(25_000_000n)
  expect((await shop.orders.audit()).ok).toBe(true)
})

test('what needs no shipping is charged at once', async () => {
  const { page } = await desk.openWindow()
  await orderFirst(page, shop, ['Brewing Guide, PDF'])
  await authorize(page)
  await isFinal(page)
  await page.getByText('It is paid. Your download is ready.').waitFor()
})

test('a payment that is declined in the wallet can be tried again, and canceled on the chain', async () => {
  const { page } = await desk.openWindow()
  await orderFirst(page, shop)
  await askWallet(page)
  await button(page, 'Reject').click()
  await page.getByText('You declined in your wallet').waitFor()
  await button(page, 'Sign payment of 12.50 USDC').click()
  await button(page, 'Sign payment').click()
  await reaches(page, 'stored')
  await page.getByText('Thank you for your order').waitFor()
  await button(page, 'Cancel payment').click()
  await button(page, 'Sign cancellation').click()
  await reaches(page, 'canceled')
  await page.getByText('Thank you for your order').waitFor({ state: 'hidden' })
  const orderId = orderIdOf(page)
  const { cancellation } = await shop.orders.get({ orderId })
  expect(cancellation?.transactionHash).toMatch(/^0x[\da-f]{64}$/)
})

test('the basket is the same in two tabs, and a third order is its own', async () => {
  const { context, page } = await desk.openWindow()
  await orderFirst(page, shop)
  const first = page.url()
  await page.goto(shop.url)
  const other = await context.newPage()
  await other.goto(shop.url)
  await button(other, 'Add Mixed Crate to basket').click()
  await page.getByRole('link', { name: 'Basket (1)' }).click()
  await button(page, 'Check out').click()
  await button(page, 'Development wallet').waitFor()
  await page.getByText('66.00 USDC').first().waitFor()
  expect(page.url()).not.toBe(first)
  await other.getByRole('link', { name: 'Basket (0)' }).waitFor()
})

test('nothing is signed for another chain or token, whatever the shop says', async () => {
  const { page } = await desk.openWindow()
  for (const changes of [{ chainId: 8453 }, { token: `0x${'e'.repeat(40)}` }]) {
    await orderFirst(page, shop)
    await button(page, 'Development wallet').waitFor()
    const kept = await page.evaluate(() => localStorage.getItem('orders'))
    const [{ orderId, buyerToken }] = JSON.parse(kept ?? '')
    const headers = { authorization: `Bearer ${buyerToken}` }
    const url = `${shop.url}/payments/orders/${orderId}`
    const shown = await (await fetch(url, { headers })).json()
    const news = { type: 'status', at: '1', order: { ...shown, ...changes } }
    await page.route(`${url}/events`, (route) =>
      route.fulfill({
        contentType: 'text/event-stream',
        body: `id: 1\ndata: ${JSON.stringify(news)}\n\n`,
      }),
    )
    await page.reload()
    await page.getByText('asked for a different payment').waitFor()
    expect(await button(page, 'Development wallet').count()).toBe(0)
  }
})

test.each([1, 2, 3])(
  'whichever of capture and cancellation is first, all agree (%i)',
  async () => {
    const { page } = await desk.openWindow()
    const merchant = await desk.openWindow()
    await merchant.page.goto(shop.merchantUrl)
    await orderFirst(page, shop)
    const orderId = orderIdOf(page)
    await authorize(page)
    await reaches(page, 'stored')
    await askCapture(merchant.page).click()
    await button(page, 'Cancel payment').click()
    await Promise.all([
      button(merchant.page, 'Capture now').click(),
      button(page, 'Sign cancellation').click(),
    ])
    await reaches(page, 'captured', 'canceled')
    const isCanceled = await page.locator('[data-state="canceled"]').count()
    const { state } = await shop.orders.get({ orderId })
    expect(state).toBe(isCanceled ? 'canceled' : 'captured')
    // Who comes second may be told so.
    for (const problem of desk.takeProblems()) expect(problem).toMatch(/409/)
    expect((await shop.orders.audit()).ok).toBe(true)
  },
)

test('in another browser an order is not found, and nothing of it is told', async () => {
  const buyer = await desk.openWindow()
  await orderFirst(buyer.page, shop)
  const { page } = await desk.openWindow()
  await page.goto(buyer.page.url())
  await page.getByRole('heading', { name: 'Order not found' }).waitFor()
  expect(await page.getByText('12.50').count()).toBe(0)
})

test('a key that is not the merchant’s leads to the sign-in, and shows no order', async () => {
  const { page } = await desk.openWindow()
  await page.goto(`${shop.url}/merchant#key=AAAA`)
  await page.getByText('This key is not the shop’s.').waitFor()
  await page.getByRole('heading', { name: 'Merchant sign-in' }).waitFor()
  expect(await page.getByRole('table').count()).toBe(0)
  await page.getByLabel('Merchant key').fill('BBBB')
  await button(page, 'Sign in').click()
  await page.getByText('This key is not the shop’s.').waitFor()
  expect(new Set(desk.takeProblems())).toEqual(
    new Set([expect.stringContaining('401')]),
  )
  await page
    .getByLabel('Merchant key')
    .fill(shop.merchantUrl.split('#key=')[1] ?? '')
  await button(page, 'Sign in').click()
  await page.getByRole('heading', { name: 'Orders', exact: true }).waitFor()
})
