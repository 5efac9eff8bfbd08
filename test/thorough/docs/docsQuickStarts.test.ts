import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Wallet } from 'countersign'
import {
  type BuyerClient,
  createBuyerClient,
  createMerchantClient,
} from 'countersign/client'
import type { Page } from 'playwright-core'
import { type Address, createClient, http } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { launch } from '../../chain/support/openPage.js'
import {
  type QuickStart,
  writeQuickStart,
} from '../../chain/support/quickStart.js'

const token: Address = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
const merchant: Address = '0xB37d4F496a98A661FB34fD1824e90cE460871D6B'
const offer = { chainId: 31337, token, to: merchant, amount: '12.50' }

let guide: QuickStart
beforeAll(async () => {
  guide = await writeQuickStart()
  await guide.startChain()
  await guide.startServer()
})
afterAll(() => guide?.stop())

type Sold = { orderId: string; buyerToken: string; buyer: BuyerClient }

async function order(idempotencyKey: string): Promise<Sold> {
  const url = `${guide.shop}/payments`
  const shop = createMerchantClient({ url, key: 'development' })
  const { order, buyerToken } = await shop.draft({
    idempotencyKey,
    amount: '12.50',
  })
  const orderId = order.id
  const buyer = createBuyerClient({ url, orderId, buyerToken })
  return { orderId, buyerToken, buyer }
}

/** What a wallet's extension gives a page; the chain's node signs. */
function wallet(): Wallet {
  const node = createClient({ transport: http(guide.node) })
  return {
    request: ({ method, params }) =>
      node.request({
        method: method === 'eth_requestAccounts' ? 'eth_accounts' : method,
        params,
      } as never),
  }
}

test('a buyer who changes his mind ends with the call that cancels', async () => {
  const { buyer } = await order('order-to-cancel')
  const expected = { ...offer, amount: '12.51' }
  await expect(buyer.pay(wallet(), { expect: expected })).rejects.toThrow(
    'value must be 12510000',
  )
  expect(await buyer.pay(wallet(), { expect: offer })).toMatchObject({
    state: 'stored',
  })
  const expectation = { chainId: 31337, token }
  const canceled = await buyer.cancel(wallet(), { expect: expectation })
  expect(canceled.order.state).toBe('voided')
  expect(canceled.call?.to).toBe(token.toLowerCase())
})

test('a page without a wallet, and one with a wrong link, says so', async ({
  onTestFinished,
}) => {
  await guide.bundle('page.ts')
  const { orderId, buyerToken } = await order('order-without-wallet')
  const page = await openBrowser(onTestFinished)
  await page.goto(`${guide.shop}/#${orderId}.${buyerToken}`)
  await waitForText(page, ['drafted'])
  await page.getByRole('button', { name: 'Authorize payment' }).click()
  await waitForText(page, ['No wallet found.'])

  await page.goto('about:blank')
  await page.goto(`${guide.shop}/#${orderId}.wrong`)
  await waitForText(page, ['Order not found, or you do not have access to it.'])
})

test('a program of the guide’s buyer follows its order to the end', async () => {
  const { buyer } = await order('order-3')
  await buyer.pay(wallet(), { expect: offer })
  expect(await guide.run('capture.ts')).toMatch(/^order-3 captured 0x/)
  const states: string[] = []
  for await (const { order } of buyer.follow()) states.push(order.state)
  expect(states.at(-1)).toBe('captured')
})

async function openBrowser(
  onTestFinished: (end: () => Promise<void>) => void,
): Promise<Page> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-browser-'))
  const browser = await launch(folder)
  onTestFinished(async () => {
    await browser.close()
    rmSync(folder, { recursive: true, force: true })
  })
  return browser.newPage()
}

function waitForText(page: Page, texts: readonly string[]): Promise<unknown> {
  return page.waitForFunction(
    `${JSON.stringify(texts)}.includes(document.querySelector('p').textContent)`,
  )
}
