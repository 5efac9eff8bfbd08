import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, expect, test } from 'vitest'
import { countShifts, readShifts } from '../../chain/support/countShifts.js'
import {
  openPagesBrowser,
  openPagesDesk,
} from '../../chain/support/pagesDesk.js'
import { button } from '../../chain/support/shopPage.js'
import {
  findHidden,
  keyboards,
  tabTo,
} from '../../chain/support/shopPageChecks.js'
import { addTestWallet } from '../../chain/support/shopPageWallet.js'

const desk = await openPagesDesk({ terms: '/terms' })
const browser = await openPagesBrowser()
afterAll(async () => {
  await browser.close()
  await desk.close()
})
afterEach(() => expect(browser.takeProblems()).toEqual([]))

const widths = [390, 768, 1280] as const
const themes = ['light', 'dark'] as const

/** What axe finds in both themes, and how far the page is too wide. */
async function findFaults(page: Page): Promise<string[]> {
  const faults: string[] = []
  for (const width of [320, ...widths]) {
    await page.setViewportSize({ width, height: 900 })
    const isWide = await page.evaluate(
      () => document.documentElement.scrollWidth > innerWidth,
    )
    if (isWide) faults.push(`${width}: wider than the window`)
    if (width === 320) continue
    for (const colorScheme of themes) {
      await page.emulateMedia({ colorScheme })
      // Else it opens a page of its own for each look at this one.
      const axe = new AxeBuilder({ page }).setLegacyMode()
      const { violations } = await axe.analyze()
      for (const { id, nodes } of violations)
        faults.push(`${width} ${colorScheme}: ${id}: ${nodes[0]?.html}`)
    }
  }
  return faults
}

const hash = `0x${'5e'.repeat(32)}`
const signed = ['drafted', 'accepted']

type Look = {
  state: string
  events: readonly string[]
  finality?: string
  refunds?: readonly string[]
}

/** Shows the order of a link in a state, whatever it really is in. */
async function show(
  page: Page,
  { state, events, finality, refunds = [] }: Look,
): Promise<void> {
  const { link, orderId, buyerToken } = await desk.draft()
  const answer = await fetch(`${desk.url}/payments/orders/${orderId}`, {
    headers: { authorization: `Bearer ${buyerToken}` },
  })
  const transaction = finality ? { hash, finality } : null
  const order = {
    ...(await answer.json()),
    state,
    transaction,
    refunds: refunds.map((refund) => ({
      state: refund,
      amount: '2.50',
      transaction:
        refund === 'succeeded'
          ? { hash, blockNumber: '7', finality: 'safe' }
          : null,
    })),
  }
  const frames = events.map(
    (type, at) =>
      `id: ${at + 1}\ndata: ${JSON.stringify({ type, at: String(Date.now()), order })}\n\n`,
  )
  await page.route(`**/payments/orders/${orderId}/events`, (route) =>
    route.fulfill({ contentType: 'text/event-stream', body: frames.join('') }),
  )
  await page.goto(link)
}

const looks: readonly [heading: string | RegExp, look: Look][] = [
  ['Pay Roastery & Sons', { state: 'drafted', events: ['drafted'] }],
  [
    'Please sign again',
    { state: 'drafted', events: [...signed, 'expired', 'reauthorized'] },
  ],
  ['Payment authorized', { state: 'stored', events: signed }],
  [
    'Payment authorized',
    { state: 'stored', events: [...signed, 'capturing', 'captureRejected'] },
  ],
  [
    'The shop is charging you',
    { state: 'capturing', events: [...signed, 'capturing'] },
  ],
  [
    'Seen by the network',
    {
      state: 'capturing',
      finality: 'preconfirmed',
      events: [...signed, 'capturing', 'preconfirmed'],
    },
  ],
  ...(['included', 'safe', 'finalized'] as const).map(
    (finality): [RegExp, Look] => [
      /^Paid/,
      { state: 'captured', finality, events: [...signed, 'captured'] },
    ],
  ),
  [
    'Your cancellation is on its way',
    { state: 'canceling', events: [...signed, 'canceling'] },
  ],
  [
    'Canceled',
    {
      state: 'canceled',
      finality: 'finalized',
      events: [...signed, 'canceling', 'canceled'],
    },
  ],
  [
    'The shop closed this order',
    { state: 'voided', events: [...signed, 'voided'] },
  ],
  [
    'This order has expired',
    { state: 'expired', events: ['drafted', 'expired'] },
  ],
  [
    'Please contact the shop',
    { state: 'consumed', events: [...signed, 'consumed'] },
  ],
  [
    'Your refund is on its way',
    {
      state: 'captured',
      finality: 'finalized',
      refunds: ['requested'],
      events: [...signed, 'captured'],
    },
  ],
  [
    /^Refunded/,
    {
      state: 'captured',
      finality: 'finalized',
      refunds: ['succeeded', 'failed'],
      events: [...signed, 'captured'],
    },
  ],
]

test.each(looks)('“%s” is fit for everybody %#', async (name, look) => {
  const page = await browser.open()
  const account = await desk.buyer()
  await addTestWallet(page, account.address)
  await show(page, look)
  await page.getByRole('heading', { name, level: 1 }).waitFor()
  expect(await findFaults(page)).toEqual([])
  await page.context().close()
})

test('wallets, what is signed, and what went wrong are fit for everybody', async () => {
  const { link } = await desk.draft()
  const account = await desk.buyer()
  const page = await browser.open()
  await page.goto(link)
  await page.getByRole('heading', { name: 'No wallet found' }).waitFor()
  expect(await findFaults(page)).toEqual([])
  const wallet = await addTestWallet(page, account.address)
  await page.reload()
  await button(page, 'Test wallet').click()
  await page.getByText('Everything you sign').click()
  expect(await findFaults(page)).toEqual([])
  const sign = page.getByRole('button', { name: /^Sign payment/ })
  await sign.click()
  await wallet.isAsked()
  expect(await findFaults(page)).toEqual([])
  await wallet.refuse(4001)
  await page.getByRole('heading', { name: /^You declined/ }).waitFor()
  expect(await findFaults(page)).toEqual([])
  // What is open stays open while the page changes.
  await page.getByText('Number (nonce)').waitFor()
  await page.goto(link.replace(/#.*/, ''))
  await page.getByRole('heading', { name: /^This payment link/ }).waitFor()
  expect(await findFaults(page)).toEqual([])
  await page.context().close()
})

const shifts: string[] = []
afterAll(() => {
  process.stdout.write(`CLS: ${shifts.join(', ')}\n`)
})

test.each(
  widths.flatMap((width) => themes.map((theme) => [width, theme] as const)),
)(
  'the page moves by at most 0.05 while a buyer pays, %i wide, %s',
  async (width, theme) => {
    const { link, orderId } = await desk.draft()
    const account = await desk.buyer()
    const page = await browser.open({ width, theme })
    const wallet = await addTestWallet(page, account.address)
    await countShifts(page)
    await page.goto(link)
    await button(page, 'Test wallet').click()
    await page.getByRole('button', { name: /^Sign payment/ }).click()
    await wallet.isAsked()
    await wallet.sign(account)
    await page.getByRole('heading', { name: 'Payment authorized' }).waitFor()
    await desk.orders.capture({ orderId })
    await page.getByRole('heading', { name: /^Paid/ }).waitFor()
    const shifted = await readShifts(page)
    shifts.push(`${width} ${theme} ${shifted.toFixed(4)}`)
    expect(shifted).toBeLessThanOrEqual(0.05)
    await page.context().close()
  },
)

test.each(keyboards)(
  'a buyer pays, and cancels, by keyboard, %s',
  async (_, options) => {
    const { link } = await desk.draft()
    const account = await desk.buyer()
    const page = await browser.open(options)
    const wallet = await addTestWallet(page, account.address)
    const press = async (name: RegExp): Promise<void> => {
      await tabTo(page, name)
      expect(await findHidden(page)).toBe(undefined)
      await page.keyboard.press('Enter')
    }
    await page.goto(link)
    await button(page, 'Test wallet').waitFor()
    await press(/^Test wallet$/)
    await button(page, 'Sign payment of 12.50 USDC').waitFor()
    await press(/^Sign payment/)
    await wallet.isAsked()
    // The focus stays on the button, whose words change.
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe(
      'Open your wallet to sign',
    )
    await wallet.sign(account)
    await button(page, 'Cancel payment').waitFor()
    await press(/^Cancel payment$/)
    await wallet.isAsked()
    await wallet.sign(account)
    await page.getByRole('heading', { name: 'Canceled' }).waitFor()
    await page.context().close()
  },
)

test('what is printed has the payment and no buttons', async () => {
  const page = await browser.open({ width: 768 })
  await show(page, {
    state: 'captured',
    finality: 'finalized',
    events: [...signed, 'captured', 'finalityRaised'],
  })
  await button(page, 'Print receipt').waitFor()
  await page.emulateMedia({ media: 'print' })
  expect(await page.getByRole('button').count()).toBe(0)
  const text = await page.locator('main').innerText()
  expect(text).toContain('12.50')
  expect(text).toContain(hash)
  expect(text).toContain('Roastery & Sons')
  await page.context().close()
})
