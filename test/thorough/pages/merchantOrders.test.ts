import type { Principal } from 'countersign/http'
import type { Orders } from 'countersign/orders'
import type { Page } from 'playwright-core'
import type { Address } from 'viem'
import { afterAll, afterEach, expect, test } from 'vitest'
import { storedCeiling } from '../../chain/support/ceilingShop.js'
import { moveTokens } from '../../chain/support/moveTokens.js'
import {
  openPagesBrowser,
  openPagesDesk,
} from '../../chain/support/pagesDesk.js'
import { pay } from '../../chain/support/shop.js'
import { button } from '../../chain/support/shopPage.js'
import { findFaults, tabTo } from '../../chain/support/shopPageChecks.js'

let recipients: readonly Address[] = []
/** Who has the session may do all, and a reader sees the same. */
const authorize = (): Principal => ({ recipients, refunds: { perDay: '500' } })

const desk = await openPagesDesk({ merchant: { authorize, write: true } })
const browser = await openPagesBrowser()
const { orders, chain, url } = desk
recipients = [chain.clients.merchant.account.address]
afterAll(async () => {
  await browser.close()
  await desk.close()
})
afterEach(() => expect(browser.takeProblems()).toEqual([]))

type Draft = Partial<Parameters<Orders['draft']>[0]>

/** An order that a buyer signed, who has enough for it. */
async function place(draft: Draft = {}) {
  const buyer = await desk.buyer()
  const { orderId } = await desk.draft(draft)
  const { payment } = await orders.draft({
    orderId,
    amount: '12.50',
    ...draft,
  } as never)
  const signed = await pay(buyer, payment)
  const verdict = await orders.accept({ orderId, payment: signed })
  if (!verdict.ok) throw new Error(verdict.reason)
  return { orderId, buyer }
}

/** An order of which a buyer signed a most. */
async function placeCeiling(atMost: string) {
  const [seller] = recipients
  const shop = { orders, seller } as Parameters<typeof storedCeiling>[1]
  const { id } = await storedCeiling(chain, shop, { atMost })
  return { orderId: id }
}

const rowOf = (page: Page, orderId: string) =>
  page
    .getByRole('table', { name: /^Orders/ })
    .getByRole('row', { name: new RegExp(orderId) })

async function openOrders(path = ''): Promise<Page> {
  const page = await browser.open({ width: 1280, height: 900 })
  await page.goto(`${url}/merchant/${path}`)
  await page.getByText('Live').waitFor()
  return page
}

/** Searches for something, and waits until the table has only these orders. */
async function find(page: Page, text: string, ids: readonly string[]) {
  await page.getByRole('textbox', { name: 'Find' }).fill(text)
  await button(page, 'Filter').click()
  const rows = page
    .getByRole('table', { name: /^Orders/ })
    .locator('[data-row]')
  await expect
    .poll(() => rows.evaluateAll((all) => all.map((row) => row.dataset.row)), {
      timeout: 60_000,
    })
    .toEqual(ids)
}

test('one field finds an order by its id, payer and transaction, and says when nothing is found', async () => {
  const first = await place()
  const second = await place({ amount: '7' })
  const captured = await orders.capture({ orderId: first.orderId })
  if (captured.status !== 'captured') throw new Error(captured.status)
  const { transactionHash } = captured.proof
  const page = await openOrders()
  await rowOf(page, first.orderId).waitFor()
  await find(page, `  ${second.orderId} `, [second.orderId])
  await page.getByText('Found by its order id.').waitFor()
  await find(page, first.buyer.address, [first.orderId])
  await page.getByText(/^Paid from 0x/).waitFor()
  await find(page, `https://scan.example/tx/${transactionHash}`, [
    first.orderId,
  ])
  await page.getByText(/^Found by transaction 0x/).waitFor()
  await find(page, transactionHash.slice(0, 41), [])
  await page.getByText(/a transaction hash 64; this has 39\./).waitFor()
  await find(page, 'no-such-order', [])
  await page.getByRole('heading', { name: 'Nothing found' }).waitFor()
  // The browser reports what the server does not find.
  expect(browser.takeProblems().every((text) => /404/.test(text))).toBe(true)
  await find(page, '', [second.orderId, first.orderId])

  await page.getByText('Dates and amounts').click()
  await page.getByLabel('At most').fill('10,00')
  await button(page, 'Filter').click()
  await page.getByText('An amount such as 12.50.').waitFor()
  await page.getByLabel('At most').fill('10')
  await find(page, '', [second.orderId])
  await page.getByLabel('At most').fill('')
  await page.getByLabel('To', { exact: true }).fill('2020-01-01')
  await find(page, '', [])
  await page.getByText('No order matches these filters.').waitFor()
  await find(page, first.orderId, [])
  await button(page, 'Search all orders').click()
  await rowOf(page, first.orderId).waitFor()
  expect(await page.getByLabel('To', { exact: true }).inputValue()).toBe('')
  expect(await findFaults(page)).toEqual([])
  await page.context().close()
})

test('several orders are captured with one confirmation by keyboard, and each says what it became', async () => {
  const good = [await place({ amount: '1.5' }), await place({ amount: '2' })]
  const poor = await place({ amount: '4' })
  await moveTokens(chain, poor.buyer, 100_000_000n)
  const ceiling = await placeCeiling('50')
  const page = await openOrders()
  await page.getByLabel('State').selectOption('stored')
  await rowOf(page, poor.orderId).waitFor()
  const ids = [...good, poor, ceiling].map(({ orderId }) => orderId)
  for (const id of ids) {
    await rowOf(page, id).getByRole('checkbox').focus()
    await page.keyboard.press('Space')
  }
  await page.getByText(/^4 of \d+ selected,/).waitFor()
  expect(await findFaults(page)).toEqual([])
  await tabTo(page, /^Capture 3 selected$/)
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog', { name: 'Capture 3 orders?' })
  await dialog.getByText('7.50').waitFor()
  await dialog.getByText(/^1 order of your selection stay/).waitFor()
  await tabTo(page, /^Capture 3 orders$/)
  await page.keyboard.press('Enter')

  const became = page.getByRole('table', { name: /What became/ })
  const row = (orderId: string) => became.locator(`[data-row="${orderId}"]`)
  for (const { orderId } of good)
    await row(orderId).getByText('Captured').waitFor()
  await row(poor.orderId)
    .getByText('the payer does not have enough money')
    .waitFor()
  await page.getByText('All 3 answered. 1 order not done').waitFor()
  expect(await row(ceiling.orderId).count()).toBe(0)
  expect((await orders.get({ orderId: ceiling.orderId })).requested).toBe(
    undefined,
  )
  expect(await findFaults(page)).toEqual([])

  await row(poor.orderId).getByRole('link').click()
  await page.getByRole('list', { name: 'What happened' }).waitFor()
  await page.goBack()
  await row(poor.orderId).waitFor()
  await button(page, 'Dismiss').click()
  await became.waitFor({ state: 'detached' })

  await page.getByLabel('State').selectOption('stored')
  for (const id of [poor.orderId, ceiling.orderId])
    await rowOf(page, id).getByRole('checkbox').check()
  await page.route('**/void', async (route) => {
    if (route.request().url().includes(poor.orderId)) await route.abort()
    else await route.continue()
  })
  await button(page, 'Void 2 selected').click()
  await button(page, 'Void 2 orders').click()
  await row(ceiling.orderId).getByText('Voided').waitFor()
  await row(poor.orderId)
    .getByText(/^Not voided\. The shop/)
    .waitFor()
  browser.takeProblems()
  await page.context().close()
})

test('refunds and ceilings are lists, and each row leads to its order', async () => {
  const { orderId } = await place({ amount: '9' })
  const captured = await orders.capture({ orderId })
  if (captured.status !== 'captured') throw new Error(captured.status)
  const open = await placeCeiling('40')
  const page = await openOrders()
  await page.getByRole('link', { name: 'Refunds' }).click()
  await page.getByText('No order has a refund.').waitFor()
  await page.getByText('Live').waitFor()
  const taken = await orders.refund({ orderId, refundId: 'r1', amount: '3' })
  expect(taken.ok).toBe(true)
  const refund = page.locator(`[data-row="${orderId} r1"]`)
  await refund.getByText('3.00').waitFor()
  await refund.getByText('Refunded').waitFor()
  await refund.getByRole('button', { name: /refund’s transaction/ }).waitFor()
  expect(await findFaults(page)).toEqual([])

  await page.getByRole('link', { name: 'Ceilings' }).click()
  const row = page.locator(`[data-row="${open.orderId}"]`)
  await expect.poll(() => row.getByText('40.00').count()).toBe(2)
  await row.getByText(/1[45] min/).waitFor()
  await page.getByText('Live').waitFor()
  await orders.capture({ orderId: open.orderId, amount: '12' })
  await row.getByRole('link', { name: /12\.00/ }).waitFor()
  await expect.poll(() => row.getByText('40.00').count()).toBe(1)
  expect(await findFaults(page)).toEqual([])
  await row.getByRole('link', { name: /12\.00/ }).click()
  await page.getByText('The proof is valid').waitFor()
  await page.context().close()
})

test('pages that only read have nothing to select, to capture or to void', async () => {
  const { orderId } = await place()
  const page = await browser.open({ width: 1280, height: 900 })
  // What a server without `write` says of itself.
  await page.route('**/merchant/', async (route) => {
    const answer = await route.fetch()
    const body = (await answer.text()).replace(
      'canWrite&quot;:true',
      'canWrite&quot;:false',
    )
    await route.fulfill({ response: answer, body })
  })
  await page.goto(`${url}/merchant/`)
  await rowOf(page, orderId).getByText('Authorized').waitFor()
  await page.getByText('Read only.').waitFor()
  expect(await page.getByRole('checkbox').count()).toBe(0)
  expect(await page.getByRole('button', { name: /Capture|Void/ }).count()).toBe(
    0,
  )
  await rowOf(page, orderId)
    .getByRole('link', { name: /^Details/ })
    .waitFor()
  await page.context().close()
})
