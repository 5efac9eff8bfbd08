import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, afterEach, expect, test } from 'vitest'
import {
  openPagesBrowser,
  openPagesDesk,
} from '../../chain/support/pagesDesk.js'
import { button } from '../../chain/support/shopPage.js'
import {
  addTestWallet,
  type TestWallet,
} from '../../chain/support/shopPageWallet.js'

const desk = await openPagesDesk()
const browser = await openPagesBrowser()
afterAll(async () => {
  await browser.close()
  await desk.close()
})
afterEach(() => expect(browser.takeProblems()).toEqual([]))

const sign = 'Sign payment of 12.50 USDC'
const stranger = privateKeyToAccount(`0x${'5a'.repeat(32)}`)

async function openOrder(changes: Parameters<typeof desk.draft>[0] = {}) {
  const account = await desk.buyer()
  const drafted = await desk.draft(changes)
  const page = await browser.open()
  const wallet = await addTestWallet(page, account.address)
  await page.goto(drafted.link)
  return { ...drafted, account, page, wallet }
}

type Opened = Awaited<ReturnType<typeof openOrder>>

const stateOf = async ({ orderId }: Opened) =>
  (await desk.orders.get({ orderId })).state

const choose = ({ page }: Opened) => button(page, 'Test wallet').click()
const heading = ({ page }: Opened, name: string | RegExp) =>
  page.getByRole('heading', { name }).waitFor()

test('who declines can sign later', async () => {
  const opened = await openOrder()
  const { page, wallet, account } = opened
  await choose(opened)
  await button(page, sign).click()
  await wallet.isAsked()
  await wallet.refuse(4001)
  await heading(opened, 'You declined in your wallet')
  expect(await stateOf(opened)).toBe('drafted')
  await button(page, sign).click()
  await wallet.isAsked()
  await wallet.sign(account)
  await heading(opened, 'Payment authorized')
  await page.context().close()
})

test('a wallet on another chain is asked to switch, before it is asked to sign', async () => {
  const opened = await openOrder()
  const { page, wallet, account } = opened
  await wallet.goTo(1)
  await choose(opened)
  await button(page, sign).click()
  await heading(opened, 'Your wallet is on another network')
  await page.getByRole('button', { name: /^Switch to/ }).click()
  await heading(opened, /^Your wallet does not know/)
  await wallet.know(31337)
  await button(page, sign).click()
  await page.getByRole('button', { name: /^Switch to/ }).click()
  await button(page, sign).click()
  await wallet.isAsked()
  await wallet.sign(account)
  await heading(opened, 'Payment authorized')
  await page.context().close()
})

test.each<[string, (wallet: TestWallet) => Promise<void>, RegExp]>([
  [
    'signs with another account',
    (wallet) => wallet.sign(stranger),
    /^(Another account signed|The shop refused)/,
  ],
  [
    'answers no signature',
    (wallet) => wallet.answer('0x'),
    /^Your wallet did not sign/,
  ],
  [
    'answers an object',
    (wallet) => wallet.answer({ signature: '0x12' }),
    /^Your wallet did not sign/,
  ],
  [
    'has an open question',
    (wallet) => wallet.refuse(-32_002),
    /^Your wallet is waiting/,
  ],
  ['fails', (wallet) => wallet.refuse(-32_603), /^Your wallet did not sign/],
])(
  'a wallet that %s costs nothing, and the buyer can try again',
  async (_, act, title) => {
    const opened = await openOrder()
    const { page, wallet, account } = opened
    await choose(opened)
    await button(page, sign).click()
    await wallet.isAsked()
    await act(wallet)
    await heading(opened, title)
    expect(await stateOf(opened)).toBe('drafted')
    // The shop said no: the browser tells so, too.
    browser.takeProblems()
    await button(page, sign).click()
    await wallet.isAsked()
    await wallet.sign(account)
    await heading(opened, 'Payment authorized')
    await page.context().close()
  },
)

test('an account that is chosen in the wallet is the one that pays', async () => {
  const opened = await openOrder()
  const { page, wallet } = opened
  const other = await desk.buyer()
  await choose(opened)
  await button(page, sign).waitFor()
  await wallet.show(other.address)
  const short = other.address.toLowerCase().slice(0, 6)
  await page.locator('.account').getByText(short).waitFor()
  await button(page, sign).click()
  await wallet.isAsked()
  await wallet.sign(other)
  await heading(opened, 'Payment authorized')
  const { payer } = await desk.orders.get({ orderId: opened.orderId })
  expect(payer).toBe(other.address.toLowerCase())
  await page.context().close()
})

test('an order of one payer is signed with no other account', async () => {
  const payer = await desk.buyer()
  const opened = await openOrder({ payer: payer.address })
  const { page, wallet } = opened
  await choose(opened)
  await button(page, sign).click()
  await heading(opened, 'Your wallet uses another account')
  await wallet.show(payer.address)
  await button(page, sign).click()
  await wallet.isAsked()
  await wallet.sign(payer)
  await heading(opened, 'Payment authorized')
  await page.context().close()
})

test('a wallet that shows no account any more is asked again', async () => {
  const opened = await openOrder()
  const { page, wallet } = opened
  await choose(opened)
  await button(page, sign).waitFor()
  await wallet.show()
  await button(page, 'Test wallet').waitFor()
  await page.context().close()
})

test('a wallet that is disconnected while it signs leaves an order that can be paid', async () => {
  const opened = await openOrder()
  const { page, wallet, account } = opened
  await choose(opened)
  await button(page, sign).click()
  await wallet.isAsked()
  await wallet.show()
  await wallet.refuse(4100)
  await heading(opened, 'Your wallet did not sign')
  await wallet.show(account.address)
  await choose(opened)
  await button(page, sign).click()
  await wallet.isAsked()
  await wallet.sign(account)
  await heading(opened, 'Payment authorized')
  await page.context().close()
})

test('an account that is switched while it signs still pays what it signed', async () => {
  const opened = await openOrder()
  const { page, wallet, account } = opened
  const other = await desk.buyer()
  await choose(opened)
  await button(page, sign).click()
  await wallet.isAsked()
  await wallet.show(other.address)
  await wallet.sign(account)
  await heading(opened, 'Payment authorized')
  const { payer } = await desk.orders.get({ orderId: opened.orderId })
  expect(payer).toBe(account.address.toLowerCase())
  await page.context().close()
})

test('who waits for a wallet in vain can stop', async () => {
  const opened = await openOrder()
  const { page, wallet, account } = opened
  await choose(opened)
  await button(page, sign).click()
  await wallet.isAsked()
  await button(page, 'Stop waiting').click()
  await button(page, sign).waitFor()
  // A late answer is dropped.
  await wallet.sign(account)
  await button(page, sign).waitFor()
  expect(await stateOf(opened)).toBe('drafted')
  await page.context().close()
})

test('the wallet of an older browser, which has no name, pays as well', async () => {
  const account = await desk.buyer()
  const { link } = await desk.draft()
  const page = await browser.open()
  const wallet = await addTestWallet(page, account.address)
  await page.addInitScript(() => {
    addEventListener(
      'eip6963:announceProvider',
      (event) => {
        const { provider } = (event as CustomEvent).detail
        Object.assign(window, { ethereum: provider })
        event.stopImmediatePropagation()
      },
      true,
    )
    dispatchEvent(new Event('eip6963:requestProvider'))
  })
  await page.goto(link)
  await button(page, 'Wallet of this browser').click()
  await button(page, sign).click()
  await wallet.isAsked()
  await wallet.sign(account)
  await page.getByRole('heading', { name: 'Payment authorized' }).waitFor()
  await page.context().close()
})

test('without a wallet the page says what to do, and in the language of the browser', async () => {
  const { link } = await desk.draft()
  const page = await browser.open({ locale: 'de-DE' })
  await page.goto(link)
  await page.getByRole('heading', { name: 'Keine Wallet gefunden' }).waitFor()
  await page.getByText('12,50 USDC').first().waitFor()
  await page.context().close()
})

test.each([
  ['recipient', { message: { to: stranger.address } }],
  ['token', { domain: { verifyingContract: stranger.address } }],
  ['amount', { message: { value: '99000000' } }],
  ['chain', { domain: { chainId: 8453 } }],
  ['window', { message: { validBefore: '4000000000' } }],
])(
  'a payment with another %s than the page shows reaches no wallet',
  async (_, changes: { message?: object; domain?: object }) => {
    const opened = await openOrder()
    const { page } = opened
    await choose(opened)
    await button(page, sign).waitFor()
    await page.route('**/payments/orders/*/payment', async (route) => {
      const answer = await route.fetch()
      const body = await answer.json()
      Object.assign(body.payment.message, changes.message)
      Object.assign(body.payment.domain, changes.domain)
      await route.fulfill({ json: body })
    })
    await button(page, sign).click()
    await heading(opened, 'This is not the payment shown here')
    expect(await page.evaluate(() => window.testWallet.asked)).toBeUndefined()
    await page.context().close()
  },
)

test.each([
  ['another token', (token: string) => token.replace(/.$/, '0')],
  ['no token', () => ''],
])('a link with %s shows no order', async (_, change) => {
  const { link, buyerToken } = await desk.draft()
  const page = await browser.open()
  await page.goto(link.replace(buyerToken, change('f'.repeat(64))))
  await page
    .getByRole('heading', { name: 'This payment link does not work' })
    .waitFor()
  // The browser tells of the 404.
  browser.takeProblems()
  await page.context().close()
})
