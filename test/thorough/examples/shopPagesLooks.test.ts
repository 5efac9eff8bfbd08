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
  reaches,
} from '../../chain/support/shopPage.js'
import {
  findFaults,
  readColours,
  tabTo,
} from '../../chain/support/shopPageChecks.js'
import { placeOrder } from '../../chain/support/shopPageOrders.js'

const desk = await openDesk()
const { shop } = desk
afterAll(() => desk.close())
afterEach(() => expect(desk.takeProblems()).toEqual([]))

test('the check of a page finds what is wrong with it', async () => {
  const { page } = await desk.openWindow()
  await page.goto(`${shop.url}/nowhere`)
  await page
    .getByRole('heading', { name: 'Page not found' })
    .evaluate((title) => title.append(new Image(500, 50)))
  const faults = await findFaults(page)
  expect(faults).toEqual([
    expect.stringContaining('1280 light: image-alt'),
    expect.stringContaining('390: wider than the page'),
    expect.stringContaining('390 light: image-alt'),
  ])
})

test('products, basket, orders, and a page that is not there, are fit for everybody', async () => {
  const { page } = await desk.openWindow()
  await page.goto(shop.url)
  await page.getByRole('list', { name: 'Products' }).waitFor()
  expect(await findFaults(page)).toEqual([])
  for (const link of [/^Basket/, /^Orders$/]) {
    await page.getByRole('link', { name: link }).click()
    await page.getByRole('link', { name: 'See all products' }).waitFor()
    expect(await findFaults(page)).toEqual([])
  }
  await page.goto(shop.url)
  await button(page, 'Add House Blend, 250 g to basket').click()
  await page.getByRole('link', { name: /^Basket/ }).click()
  await button(page, 'Check out').waitFor()
  expect(await findFaults(page)).toEqual([])
  await page.goto(`${shop.url}/nowhere`)
  await page.getByRole('heading', { name: 'Page not found' }).waitFor()
  expect(await findFaults(page)).toEqual([])
})

test('the products stand in rows of equal length on every screen', async () => {
  const { page } = await desk.openWindow()
  await page.goto(shop.url)
  const products = page.getByRole('list', { name: 'Products' })
  await products.waitFor()
  for (const width of [390, 600, 768, 900, 1024, 1100, 1280, 1920]) {
    await page.setViewportSize({ width, height: 900 })
    const tops = await products
      .getByRole('listitem')
      .evaluateAll((cards) =>
        cards.map((card) => Math.round(card.getBoundingClientRect().top)),
      )
    const rows = [...new Set(tops)].map(
      (top) => tops.filter((other) => other === top).length,
    )
    expect(new Set(rows).size, `rows of ${rows} at ${width}`).toBe(1)
  }
})

test('an order, the wallet’s questions, a refusal, a payment and its end are fit for everybody', async () => {
  const { page } = await desk.openWindow()
  const merchant = await desk.openWindow()
  await orderFirst(page, shop)
  expect(await findFaults(page)).toEqual([])
  await askWallet(page)
  expect(await findFaults(page)).toEqual([])
  await button(page, 'Reject').click()
  await page.getByText('You declined in your wallet').waitFor()
  expect(await findFaults(page)).toEqual([])
  await button(page, 'Sign payment of 12.50 USDC').click()
  await button(page, 'Sign payment').click()
  await reaches(page, 'stored')
  expect(await findFaults(page)).toEqual([])
  await merchant.page.goto(shop.merchantUrl)
  await captureNewest(merchant.page)
  await isFinal(page)
  expect(await findFaults(page)).toEqual([])
  await page.getByRole('link', { name: 'Orders', exact: true }).click()
  await page.getByText('Paid, and final').waitFor()
  expect(await findFaults(page)).toEqual([])
})

test('a cancellation is fit for everybody, in the wallet and after it', async () => {
  const { page } = await desk.openWindow()
  await orderFirst(page, shop)
  await authorize(page)
  await button(page, 'Cancel payment').click()
  await button(page, 'Sign cancellation').waitFor()
  expect(await findFaults(page)).toEqual([])
  await button(page, 'Sign cancellation').click()
  await reaches(page, 'canceled')
  expect(await findFaults(page)).toEqual([])
})

test('the merchant’s sign-in, orders and questions are fit for everybody', async () => {
  const [, , , account] = shop.chain.accounts
  if (!account) throw new Error('no account left')
  await placeOrder(shop, { account, product: 'pour-over-kit', amount: '48' })
  const { page } = await desk.openWindow()
  await page.goto(`${shop.url}/merchant`)
  await page.getByLabel('Merchant key').waitFor()
  expect(await findFaults(page)).toEqual([])
  await page.goto(shop.merchantUrl)
  await page.reload()
  await askCapture(page).waitFor()
  expect(await findFaults(page)).toEqual([])
  await askCapture(page).click()
  await button(page, 'Capture now').waitFor()
  expect(await findFaults(page)).toEqual([])
})

test('books and proof are fit for everybody', async () => {
  const [, , , , account] = shop.chain.accounts
  if (!account) throw new Error('no account left')
  const order = { account, product: 'house-blend', amount: '12.50' } as const
  const orderId = await placeOrder(shop, order)
  await shop.orders.capture({ orderId })
  const key = new URL(shop.merchantUrl).hash
  const { page } = await desk.openWindow()
  await page.goto(`${shop.url}/merchant/orders/${orderId}${key}`)
  await page.getByText('The proof is valid').waitFor()
  expect(await findFaults(page)).toEqual([])
  await page.goto(`${shop.url}/merchant/books`)
  await page.getByText('match the chain exactly').waitFor()
  await button(page, 'Reconcile now').click()
  await page.getByText(/Nothing was missing|written/).waitFor()
  expect(await findFaults(page)).toEqual([])
})

test('a payment is authorized, and canceled, without a mouse', async () => {
  const { page } = await desk.openWindow()
  const press = async (name: RegExp): Promise<void> => {
    await tabTo(page, name)
    await page.keyboard.press('Enter')
  }
  await page.goto(shop.url)
  await page.getByRole('list', { name: 'Products' }).waitFor()
  await press(/^Skip to the content$/)
  await press(/^Add House Blend/)
  await press(/^Basket/)
  await press(/^Check out$/)
  await button(page, 'Development wallet').waitFor()
  await press(/^Development wallet$/)
  await press(/^Sign payment of/)
  await button(page, 'Sign payment').waitFor()
  await page.keyboard.press('Escape')
  await page.getByText('You declined in your wallet').waitFor()
  await press(/^Sign payment of/)
  await button(page, 'Sign payment').waitFor()
  await press(/^Sign payment$/)
  await reaches(page, 'stored')
  await press(/^Cancel payment$/)
  await button(page, 'Sign cancellation').waitFor()
  await press(/^Sign cancellation$/)
  await reaches(page, 'canceled')
})

test('a payment is captured, and its proof opened, without a mouse', async () => {
  const [, , , , , account] = shop.chain.accounts
  if (!account) throw new Error('no account left')
  const order = { account, product: 'pour-over-kit', amount: '48' } as const
  const orderId = await placeOrder(shop, order)
  const { page } = await desk.openWindow()
  await page.goto(shop.merchantUrl)
  await askCapture(page).waitFor()
  await tabTo(page, /^Capture order/)
  await page.keyboard.press('Enter')
  await tabTo(page, /^Capture now$/)
  await page.keyboard.press('Enter')
  await page
    .getByRole('row', { name: new RegExp(orderId) })
    .getByText('Captured')
    .waitFor()
  await tabTo(page, /^Proof order/)
  await page.keyboard.press('Enter')
  await page.getByText('The proof is valid').waitFor()
})

test('the theme is the system’s until the visitor chooses, and then stays', async () => {
  const looks: Record<string, string[]> = {}
  for (const theme of ['light', 'dark'] as const) {
    const { page } = await desk.openWindow({ theme })
    await page.goto(shop.url)
    await page.getByRole('list', { name: 'Products' }).waitFor()
    const { chosen, other } =
      theme === 'dark'
        ? { chosen: 'light', other: 'dark' }
        : { chosen: 'dark', other: 'light' }
    looks[`${theme} by system`] = await readColours(page)
    await button(page, `Use the ${chosen} theme`).click()
    looks[`${chosen} by switch`] = await readColours(page)
    await page.reload()
    await button(page, `Use the ${other} theme`).waitFor()
    await page.getByRole('list', { name: 'Products' }).waitFor()
    expect(await readColours(page)).toEqual(looks[`${chosen} by switch`])
  }
  expect(looks['light by switch']).toEqual(looks['light by system'])
  expect(looks['dark by switch']).toEqual(looks['dark by system'])
  expect(looks['dark by system']).not.toEqual(looks['light by system'])
})
