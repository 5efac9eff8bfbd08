import type { Page } from 'playwright-core'
import { afterAll, afterEach, expect, test } from 'vitest'
import type { CountersignPayElement } from '../../../src/element/CountersignPayElement.js'
import { openElementSite } from '../../chain/support/elementSite.js'
import {
  openPagesBrowser,
  openPagesDesk,
} from '../../chain/support/pagesDesk.js'
import { button } from '../../chain/support/shopPage.js'
import { addTestWallet } from '../../chain/support/shopPageWallet.js'

const desk = await openPagesDesk({ site: await openElementSite() })
const browser = await openPagesBrowser()
afterAll(async () => {
  await browser.close()
  await desk.close()
})
afterEach(() => expect(browser.takeProblems()).toEqual([]))

const { orders } = desk

type Told = { type: string; detail: Record<string, unknown> }

declare global {
  interface Window {
    told: Told[]
  }
}

type Attributes = Readonly<Record<string, string>>

/** Puts an element into the shop's page, and records its events. */
async function addElement(page: Page, attributes: Attributes): Promise<void> {
  await page.evaluate((given) => {
    window.told = []
    const element = document.createElement('countersign-pay')
    for (const [name, value] of Object.entries(given))
      element.setAttribute(name, value)
    for (const type of ['signed', 'stored', 'captured', 'failed'] as const)
      element.addEventListener(type, ({ detail }) => {
        window.told.push({ type, detail })
      })
    document.querySelector('main')?.replaceChildren(element)
  }, attributes)
}

const toldBy = (page: Page): Promise<Told[]> => page.evaluate(() => window.told)

async function openOrder(more: Attributes = {}) {
  const account = await desk.buyer()
  const { orderId, buyerToken } = await desk.draft({ payer: account.address })
  const page = await browser.open()
  const wallet = await addTestWallet(page, account.address)
  await page.goto(`${desk.url}/shop`)
  const attributes = { 'order-id': orderId, token: buyerToken, ...more }
  await addElement(page, attributes)
  const heading = (name: string | RegExp) =>
    page.getByRole('heading', { name }).waitFor()
  const ask = async () => {
    await button(page, 'Test wallet').click()
    await page.getByRole('button', { name: /^Sign payment of/ }).click()
    await wallet.isAsked()
  }
  return { orderId, buyerToken, account, page, wallet, heading, ask }
}

test('a buyer pays in a page that allows no style but its element’s, and the page is told of each step', async () => {
  const { page, wallet, account, orderId, heading, ask } = await openOrder({
    name: 'Roastery',
  })
  await heading('Pay Roastery')
  await ask()
  expect(await toldBy(page)).toEqual([])
  await wallet.sign(account)
  await heading('Payment authorized')
  await orders.capture({ orderId })
  await heading(/^Paid/)
  const told = await toldBy(page)
  expect(told.map(({ type }) => type)).toEqual(['signed', 'stored', 'captured'])
  for (const { detail } of told) expect(detail).toMatchObject({ orderId })
  expect(told[2]?.detail).toMatchObject({
    order: { amount: '12.5', chainId: 31337, state: 'captured' },
  })
  expect(JSON.stringify(told)).not.toContain('signature')
  // Its own style sheet works, although the page allows none.
  const card = page.locator('countersign-pay section').first()
  expect(await card.evaluate((it) => getComputedStyle(it).padding)).toBe('20px')
  await page.context().close()
})

test('a wallet that declines is a failure with the words that the buyer reads, and the next try succeeds', async () => {
  const { page, wallet, account, heading, orderId } = await openOrder({
    language: 'de',
  })
  const pay = page.getByRole('button', { name: /^Zahlung von/ })
  await button(page, 'Test wallet').click()
  await pay.click()
  await wallet.isAsked()
  await wallet.refuse(4001)
  await expect.poll(() => toldBy(page)).toHaveLength(1)
  const [failed] = await toldBy(page)
  expect(failed).toMatchObject({
    type: 'failed',
    detail: { orderId, reason: 'declined' },
  })
  await heading(String(failed?.detail.title))
  await page.getByText(String(failed?.detail.text)).waitFor()
  await pay.click()
  await wallet.isAsked()
  await wallet.sign(account)
  await expect
    .poll(async () => (await toldBy(page)).map(({ type }) => type))
    .toEqual(['failed', 'signed', 'stored'])
  await page.context().close()
})

test('variables of CSS set its colours, and those of the page around it do not', async () => {
  const { page } = await openOrder()
  const accentOf = () =>
    page
      .locator('countersign-pay')
      .evaluate((it) => getComputedStyle(it).getPropertyValue('--accent'))
  await page.evaluate(() =>
    document.documentElement.style.setProperty('--accent', 'red'),
  )
  await button(page, 'Test wallet').click()
  const paint = () =>
    page
      .getByRole('button', { name: /^Sign payment of/ })
      .evaluate((it) => getComputedStyle(it).backgroundColor)
  expect(await accentOf()).toBe('#3b3fc2')
  expect(await paint()).toBe('rgb(59, 63, 194)')
  await page
    .locator('countersign-pay')
    .evaluate((it) => it.style.setProperty('--accent', '#7a3b00'))
  expect(await paint()).toBe('rgb(122, 59, 0)')
  await page.context().close()
})

test('another order in its attributes is shown in place of the first, whose stream ends, as it does when the element is removed', async () => {
  const { page, orderId } = await openOrder()
  const ended: string[] = []
  page.on('requestfailed', (request) => {
    if (request.url().endsWith('/events')) ended.push(request.url())
  })
  await page.getByText(orderId).first().waitFor()
  const second = await desk.draft({ amount: '3.00' })
  await page.locator('countersign-pay').evaluate(
    (it, [id, token]) => {
      it.setAttribute('order-id', id ?? '')
      it.setAttribute('token', token ?? '')
    },
    [second.orderId, second.buyerToken] as const,
  )
  await page.getByText('3.00 USDC').first().waitFor()
  expect(await page.getByText(orderId).count()).toBe(0)
  await expect
    .poll(() => ended)
    .toEqual([`${desk.url}/payments/orders/${orderId}/events`])
  await page.locator('countersign-pay').evaluate((it) => it.remove())
  await expect.poll(() => ended).toHaveLength(2)
  await page.context().close()
})

test('a signature that comes after the element was removed, or shows another order, is dropped', async () => {
  for (const leave of ['remove', 'change'] as const) {
    const { page, orderId, wallet, account, ask } = await openOrder()
    await ask()
    await page.locator('countersign-pay').evaluate((it, how) => {
      if (how === 'remove') it.remove()
      else it.setAttribute('order-id', 'another')
    }, leave)
    await wallet.sign(account)
    await page.waitForTimeout(300)
    expect((await orders.get({ orderId })).state).toBe('drafted')
    const types = (await toldBy(page)).map(({ type }) => type)
    expect(types).not.toContain('signed')
    await page.context().close()
  }
  browser.takeProblems()
})

test('what is set again to the same value does not start the element over while the wallet asks', async () => {
  const { page, wallet, account, heading, ask } = await openOrder()
  await ask()
  await page.locator('countersign-pay').evaluate((it) => {
    const { tokens } = it as CountersignPayElement
    Object.assign(it, { tokens: structuredClone(tokens) })
    it.setAttribute('order-id', it.getAttribute('order-id') ?? '')
  })
  await wallet.sign(account)
  await heading('Payment authorized')
  await page.context().close()
})

test('a return-url that is not http or https is no link', async () => {
  const { page, orderId } = await openOrder({
    'return-url': 'java\nscript:alert(document.domain)',
  })
  const back = page.locator('countersign-pay a[data-key=back]')
  await page.getByText(orderId).first().waitFor()
  expect(await back.count()).toBe(0)
  for (const [given, shown] of [
    ['/cart', `${desk.url}/cart`],
    ['https://shop.example/cart', 'https://shop.example/cart'],
  ] as const) {
    await page
      .locator('countersign-pay')
      .evaluate((it, url) => it.setAttribute('return-url', url), given)
    await back.waitFor()
    expect(await back.getAttribute('href')).toBe(shown)
  }
  await page.context().close()
})

test('without a token it shows nothing, with a wrong one it says that there is no such order', async () => {
  const { page, orderId, heading } = await openOrder()
  await addElement(page, { 'order-id': orderId })
  await page.waitForTimeout(50)
  expect(await page.locator('countersign-pay').innerText()).toBe('')
  await addElement(page, { 'order-id': orderId, token: 'ab'.repeat(32) })
  await heading('This payment link does not work')
  expect(await toldBy(page)).toMatchObject([
    { type: 'failed', detail: { orderId, reason: 'notFound' } },
  ])
  // The browser writes each 404 into its console.
  expect(browser.takeProblems().join()).toContain('404')
  await page.context().close()
})

test('an order in a token that the page does not take is not signed', async () => {
  const { page } = await openOrder()
  await page.locator('countersign-pay').evaluate((it) => {
    const { tokens } = it as HTMLElementTagNameMap['countersign-pay']
    const others = tokens.filter(({ chainId }) => chainId !== 31337)
    Object.assign(it, { tokens: others })
  })
  await page.getByText('different payment than this page shows').waitFor()
  expect(await button(page, 'Test wallet').count()).toBe(0)
  await page.context().close()
})

test('tokens that were set before the element was defined count', async () => {
  const { orderId, buyerToken } = await desk.draft()
  const page = await browser.open()
  await page.route('**/element/index.js', async (route) => {
    await page.locator('main').waitFor({ state: 'attached' })
    await page.evaluate(
      ([id, token]) => {
        const element = document.createElement('countersign-pay')
        Object.assign(element, { tokens: [] })
        element.setAttribute('order-id', id ?? '')
        element.setAttribute('token', token ?? '')
        document.querySelector('main')?.append(element)
      },
      [orderId, buyerToken] as const,
    )
    await route.continue()
  })
  await page.goto(`${desk.url}/shop`)
  await page.getByText('different payment than this page shows').waitFor()
  await page.context().close()
})

test.each([
  'https://[',
  'https://key@shop.example',
  'mailto:',
  '/payments?a=1',
])(
  'payments=%s is told in words and as an event, and a right one is shown next',
  async (payments) => {
    const { page, orderId, heading } = await openOrder({ payments })
    await heading('This payment cannot be shown')
    expect(await toldBy(page)).toEqual([
      {
        type: 'failed',
        detail: {
          orderId,
          reason: 'wrongAddress',
          title: 'This payment cannot be shown',
          text: 'This page has a wrong address for payments. Please tell the shop.',
        },
      },
    ])
    await page
      .locator('countersign-pay')
      .evaluate((it) => it.setAttribute('payments', '/payments'))
    await page.getByText(orderId).first().waitFor()
    await page.context().close()
  },
)
