import type { Page } from 'playwright-core'
import { afterAll, expect, test } from 'vitest'
import { button, chooseWallet, openDesk } from '../../chain/support/shopPage.js'

const desk = await openDesk()
const { shop } = desk
afterAll(() => desk.close())

const stranger = `0x${'e'.repeat(40)}`

/** Changes what the shop's server says, as who broke into it could. */
async function tamper(
  page: Page,
  path: string,
  change: (answer: Record<string, Record<string, unknown>>) => object,
): Promise<void> {
  await page.route(path, async (route) => {
    if (route.request().method() !== 'GET') return route.continue()
    const response = await route.fetch()
    await route.fulfill({ response, json: change(await response.json()) })
  })
}

const tamperConfig = (page: Page, changes: object): Promise<void> =>
  tamper(page, '**/shop/config', (config) => ({ ...config, ...changes }))

const tamperPayment = (
  page: Page,
  changes: { domain?: object; message?: object },
): Promise<void> =>
  tamper(page, '**/payments/orders/*/payment', ({ payment = {} }) => ({
    payment: {
      ...payment,
      domain: Object.assign({}, payment.domain, changes.domain),
      message: Object.assign({}, payment.message, changes.message),
    },
  }))

const order = async (page: Page): Promise<void> => {
  await page.goto(shop.url)
  await page.getByRole('button', { name: 'Order' }).first().click()
}

test.each([
  ['recipient', { recipient: stranger }, { message: { to: stranger } }],
  [
    'token',
    { token: stranger },
    { domain: { verifyingContract: stranger, name: 'Other' } },
  ],
  ['decimals', { decimals: 9 }, { message: { value: '12500000000' } }],
  ['chainId', { chainId: 8453 }, { domain: { chainId: 8453 } }],
] as const)(
  'a server that asks for another %s, in its terms and in the payment, gets no signature',
  async (term, config, payment) => {
    const { page } = await desk.openWindow()
    await tamperConfig(page, config)
    await tamperPayment(page, payment)
    await order(page)
    await page.getByText('You cannot pay here').waitFor()

    expect(await page.getByText(`disagree about: ${term}.`).count()).toBe(1)
    expect(await button(page, 'Authorize payment').count()).toBe(0)
  },
)

test.each([
  ['recipient', {}, { message: { to: stranger } }],
  ['token', {}, { domain: { verifyingContract: stranger } }],
  ['amount', {}, { message: { value: '12500000000' } }],
  ['chain', {}, { domain: { chainId: 8453 } }],
  [
    'window',
    { window: '4000000000' },
    { message: { validBefore: '4000000000' } },
  ],
])(
  'a payment of another %s never reaches the wallet, whatever else the server says',
  async (_name, config, payment) => {
    const { page } = await desk.openWindow()
    await tamperConfig(page, config)
    await tamperPayment(page, payment)
    await order(page)
    await chooseWallet(page)
    await button(page, 'Connect').click()
    await page.getByText('This is not what you ordered').waitFor()

    expect(await button(page, 'Sign payment').count()).toBe(0)
  },
)
