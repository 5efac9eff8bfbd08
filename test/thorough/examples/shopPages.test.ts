import type { Page } from 'playwright-core'
import { erc20Abi } from 'viem'
import { readContract } from 'viem/actions'
import { afterAll, afterEach, expect, test } from 'vitest'
import {
  askCapture,
  authorize,
  button,
  captureNewest,
  chooseWallet,
  openDesk,
  orderFirst,
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

const orderIdOf = (page: Page): string =>
  new URL(page.url()).pathname.split('/').at(-1) ?? ''

test('a payment goes from the wallet to the final block, on both pages', async () => {
  const before = await getEarned()
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
  const steps = buyer.page.getByRole('list', { name: 'Payment progress' })
  expect(await steps.getByRole('listitem').allInnerTexts()).toEqual(
    ['Signed', 'Stored', 'Payment', 'Seen by', 'Included', 'Final'].map(
      (word) => expect.stringMatching(new RegExp(`^${word}[^]*: done`)),
    ),
  )
  expect((await getEarned()) - before).toBe(12_500_000n)
  expect((await shop.orders.audit()).ok).toBe(true)
})

test('a payment that is declined in the wallet can be tried again', async () => {
  const { page } = await desk.openWindow()
  await orderFirst(page, shop)
  await chooseWallet(page)
  await button(page, 'Connect').click()
  await button(page, 'Reject').click()
  await page.getByText('You declined in your wallet').waitFor()
  await button(page, 'Authorize payment').click()
  await button(page, 'Sign payment').click()
  await reaches(page, 'stored')
})

test('a payment is canceled on the chain before it is captured', async () => {
  const { page } = await desk.openWindow()
  await orderFirst(page, shop)
  await authorize(page)
  await reaches(page, 'stored')
  await button(page, 'Cancel payment').click()
  await button(page, 'Sign cancellation').click()
  await reaches(page, 'canceled')
  const orderId = orderIdOf(page)
  const { cancellation } = await shop.orders.get({ orderId })
  expect(cancellation?.transactionHash).toMatch(/^0x[\da-f]{64}$/)
})

test('a wallet on another network is asked to switch before it can sign', async () => {
  const { page } = await desk.openWindow()
  await orderFirst(page, shop)
  await chooseWallet(page)
  await page.getByLabel('Network').selectOption('8453')
  await button(page, 'Connect').click()
  await page.getByText('Your wallet is on another network').waitFor()
  await page.getByRole('button', { name: 'Switch network' }).click()
  await page
    .getByRole('dialog')
    .getByRole('button', { name: 'Switch network' })
    .click()
  await button(page, 'Sign payment').click()
  await reaches(page, 'stored')
})

test('nothing is signed for a public chain, whatever the shop says', async () => {
  const { page } = await desk.openWindow()
  await page.route('**/shop/config', async (route) => {
    const response = await route.fetch()
    const json = { ...(await response.json()), chainId: 8453 }
    await route.fulfill({ response, json })
  })
  await page.goto(shop.url)
  await page.getByRole('button', { name: 'Order' }).first().click()
  await page.getByText('You cannot pay here').waitFor()
  expect(await button(page, 'Authorize payment').count()).toBe(0)
})

test('an account with too little money is told so, and can be filled', async () => {
  const { page } = await desk.openWindow()
  await orderFirst(page, shop)
  await chooseWallet(page)
  await page.getByLabel('Empty account').check()
  await button(page, 'Connect').click()
  await page.getByText('Not enough money in this account').waitFor()
  await button(page, 'Get test money').click()
  await button(page, 'Sign payment').click()
  await reaches(page, 'stored')
})

test('a page that is loaded again goes on where it was', async () => {
  const { page } = await desk.openWindow()
  const merchant = await desk.openWindow()
  await merchant.page.goto(shop.merchantUrl)
  await orderFirst(page, shop)
  await page.reload()
  await authorize(page)
  await reaches(page, 'stored')
  await page.reload()
  await reaches(page, 'stored')
  await captureNewest(merchant.page)
  await reaches(page, 'capturing', 'preconfirmed', 'included', 'safe')
  await page.reload()
  await reaches(page, 'finalized')
})

test('two tabs of an order show the same, and it is paid once', async () => {
  const { context, page } = await desk.openWindow()
  await orderFirst(page, shop)
  const other = await context.newPage()
  await other.goto(page.url())
  await button(other, 'Authorize payment').waitFor()
  await authorize(page)
  await reaches(page, 'stored')
  await reaches(other, 'stored')
  expect(await button(other, 'Authorize payment').count()).toBe(0)
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
    await reaches(page, 'included', 'safe', 'finalized', 'canceled')
    const isCanceled = await page.locator('[data-state="canceled"]').count()
    const { state } = await shop.orders.get({ orderId })
    expect(state).toBe(isCanceled ? 'canceled' : 'captured')
    // Who comes second may be told so.
    for (const problem of desk.takeProblems()) expect(problem).toMatch(/409/)
    expect((await shop.orders.audit()).ok).toBe(true)
  },
)

test('without its token an order is not found, and nothing of it is told', async () => {
  const buyer = await desk.openWindow()
  await orderFirst(buyer.page, shop)
  const { page } = await desk.openWindow()
  await page.goto(buyer.page.url())
  await page
    .getByRole('heading', { name: /not found|no such|cannot find/i })
    .waitFor()
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
