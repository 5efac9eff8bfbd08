import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { deployDevToken, startDevChain } from 'countersign/devchain'
import { createPages } from 'countersign/pages'
import type { Page } from 'playwright-core'
import type { Address } from 'viem'
import { expect, onTestFinished, test } from 'vitest'
import { newAccount } from '../../chain/support/desk.js'
import { openPagesBrowser } from '../../chain/support/pagesDesk.js'
import { openShop, pay } from '../../chain/support/shop.js'
import { findFaults } from '../../chain/support/shopPageChecks.js'

/** A shop that takes USDC and a token of 18 decimals, and its pages. */
async function openTwoTokens() {
  const chain = await startDevChain({ blockTime: 0 })
  const coin = await deployDevToken(chain, {
    name: 'COIN',
    symbol: 'COIN',
    decimals: 18,
  })
  const { orders, seller } = await openShop(chain, { tokens: [coin] })
  const browser = await openPagesBrowser()
  const pages = createPages(orders, {
    payments: '/payments',
    name: 'Roastery',
    merchant: { authorize: () => ({ recipients: [seller] }) },
  })
  const server = createServer(getRequestListener(pages))
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  onTestFinished(async () => {
    expect(browser.takeProblems()).toEqual([])
    await browser.close()
    server.closeAllConnections()
    server.close()
    await orders.close()
    await chain.stop()
  })
  const { port } = server.address() as AddressInfo
  const place = async (token: Address, amount: string) => {
    const buyer = newAccount()
    await chain.mint({ token, to: buyer.address, value: 10n ** 24n })
    const { order, payment } = await orders.draft({ amount, token })
    const signed = await pay(buyer, payment)
    const verdict = await orders.accept({ orderId: order.id, payment: signed })
    if (!verdict.ok) throw new Error(verdict.reason)
    return order.id
  }
  const page = await browser.open({ width: 1280, height: 900 })
  const url = `http://127.0.0.1:${port}/merchant/`
  return { orders, page, url, place, usdc: chain.token, coin }
}

const region = (page: Page, name: string | RegExp) =>
  page.getByRole('region', { name })

test('amounts of different tokens are never added: each has its own figure, bars and chart', async () => {
  const { orders, page, url, place, usdc, coin } = await openTwoTokens()
  const captured = [await place(usdc, '7'), await place(coin, '0.25')]
  for (const orderId of captured) await orders.capture({ orderId })
  await place(usdc, '12.50')
  await place(coin, '3')
  await place(coin, '1.5')
  await page.goto(url)
  await page.getByText('Live').waitFor()

  const glance = region(page, 'At a glance')
  await glance.getByText('3 payments with a valid signature').waitFor()
  const figures = await glance.locator('.stat').allInnerTexts()
  expect(figures[2]).toMatch(/12\.50 USDC\n+4\.50 COIN\n/)
  expect(figures[3]).toMatch(/7\.00 USDC\n+0\.25 COIN\n/)

  const exposure = region(page, 'Exposure by payer')
  const totals = await exposure.locator('.total').allInnerTexts()
  expect(totals.map((text) => text.replace(/\s+/g, ' '))).toEqual([
    'Total 12.50 USDC',
    'Total 4.50 COIN',
  ])

  const settlement = region(page, 'Settlement')
  await settlement
    .getByRole('img', { name: /1 captures, 7\.00 USDC/ })
    .waitFor()
  await settlement
    .getByRole('img', { name: /1 captures, 0\.25 COIN/ })
    .waitFor()
  expect(await settlement.getByRole('heading', { level: 3 }).count()).toBe(2)

  const bar = region(page, /by deadline$/).locator('summary')
  expect(await bar.innerText()).toMatch(/12\.50 USDC\s+4\.50 COIN/)
  expect(await findFaults(page)).toEqual([])
})

test('the triangle of a deadline stands beside its words, and the title of a list says whether it is filtered', async () => {
  const { page, url, place, usdc } = await openTwoTokens()
  await place(usdc, '12.50')
  await page.goto(url)
  const summary = region(page, /by deadline$/).locator('summary')
  await summary.waitFor()
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 900 })
    const [whole, words] = await summary.evaluate((element) =>
      [element, element.firstElementChild ?? element].map(
        (one) => one.getBoundingClientRect().top,
      ),
    )
    expect(words).toBeCloseTo(whole ?? 0, 0)
  }
  await region(page, 'All orders').waitFor()
  await page.getByLabel('State').selectOption('captured')
  await region(page, 'Orders found').waitFor()
  expect(await region(page, 'All orders').count()).toBe(0)
  await page.getByLabel('State').selectOption('')
  await region(page, 'All orders').waitFor()
})
