import { afterAll, afterEach, expect, test } from 'vitest'
import { button, openDesk } from '../../chain/support/shopPage.js'
import { findFaults } from '../../chain/support/shopPageChecks.js'
import { placeOrder } from '../../chain/support/shopPageOrders.js'
import { showToMerchant } from '../../chain/support/shopPageStates.js'

const desk = await openDesk()
const { shop } = desk
const key = new URL(shop.merchantUrl).hash
afterAll(() => desk.close())
afterEach(() => expect(desk.takeProblems()).toEqual([]))

const hashOf = (byte: string): `0x${string}` => `0x${byte.repeat(32)}`

/** How the chain shows a payment; the pages read the hash only. */
const captureOf = (transactionHash: `0x${string}`) => ({
  transactionHash,
  blockHash: hashOf('b1'),
  blockNumber: '41',
  blockTime: '1700000000',
  logIndex: 0,
  submitter: `0x${'5b'.repeat(20)}` as const,
  finality: 'finalized' as const,
  gasUsed: '96764',
  effectiveGasPrice: '1000000000',
  fee: '96764000000000',
})

const second = {
  transactionHash: hashOf('22'),
  logIndex: 0,
  blockNumber: '40',
  value: '12500000',
  submitter: `0x${'5b'.repeat(20)}`,
  refundId: 'order-0/2',
  refundTo: `0x${'c2'.repeat(20)}`,
}

test('an order that was paid twice has a button for each payment, and neither offers more than its own is worth', async () => {
  const [, , , account] = shop.chain.accounts
  if (!account) throw new Error('no account left')
  const amount = '12.50'
  await placeOrder(shop, { account, product: 'house-blend', amount })
  const { page } = await desk.openWindow()
  await showToMerchant(page, shop, [
    {
      order: {
        state: 'captured',
        overpaid: true,
        refundable: '12500000',
        capture: captureOf(hashOf('11')),
      },
      events: [
        ['captured', { ...second, transactionHash: hashOf('11') }],
        ['overpaid', second],
      ],
    },
  ])
  const asked: { refundId: string; amount: string }[] = []
  await page.route('**/order-0/refunds', (route) => {
    asked.push(route.request().postDataJSON())
    return route.fulfill({ json: {} })
  })
  await page.goto(`${shop.url}/merchant/orders/order-0${key}`)
  const dialog = page.getByRole('dialog')
  const shown = dialog.getByLabel(/^Amount/)

  await button(page, 'Refund the second payment').click()
  await dialog.getByRole('heading', { name: 'second payment?' }).waitFor()
  await dialog.getByTitle(new RegExp(second.refundTo, 'i')).waitFor()
  expect(await shown.inputValue()).toBe('12.5')
  expect(await findFaults(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Refund' }).click()
  await page.getByText('Refund requested. It is sent once').waitFor()

  await page.getByRole('button', { name: /^Refund order/ }).click()
  await dialog.getByRole('heading', { name: 'this order?' }).waitFor()
  expect(await shown.inputValue()).toBe('12.5')
  await dialog.getByTitle(new RegExp(account.address, 'i')).waitFor()
  await dialog.getByRole('button', { name: 'Refund' }).click()
  await dialog.waitFor({ state: 'hidden' })
  await expect.poll(() => asked.length).toBe(2)
  expect(asked).toMatchObject([
    { refundId: expect.stringMatching(/^order-0\/2\/.{36}$/), amount: '12.5' },
    { refundId: expect.stringMatching(/^[^/]{36}$/), amount: '12.5' },
  ])
})
