import { getAddress } from 'viem'
import { afterAll, afterEach, expect, test } from 'vitest'
import {
  openPagesBrowser,
  openPagesDesk,
} from '../../chain/support/pagesDesk.js'
import { button } from '../../chain/support/shopPage.js'
import { addTestWallet } from '../../chain/support/shopPageWallet.js'

const desk = await openPagesDesk({ prefix: '/eu', basePath: '/checkout' })
const browser = await openPagesBrowser()
afterAll(async () => {
  await browser.close()
  await desk.close()
})
afterEach(() => expect(browser.takeProblems()).toEqual([]))

const { orders, chain } = desk

async function openOrder(changes: Parameters<typeof desk.draft>[0] = {}) {
  const account = await desk.buyer()
  const drafted = await desk.draft({ payer: account.address, ...changes })
  const page = await browser.open()
  const wallet = await addTestWallet(page, account.address)
  await page.goto(drafted.link)
  const heading = (name: string | RegExp) =>
    page.getByRole('heading', { name }).waitFor()
  const sign = async () => {
    await page.getByRole('button', { name: /^Sign payment of/ }).click()
    await wallet.isAsked()
    await wallet.sign(account)
  }
  return { ...drafted, account, page, wallet, heading, sign }
}

const stateOf = async (orderId: string) => (await orders.get({ orderId })).state

test('a buyer cancels what was signed, behind a proxy with a prefix', async () => {
  const { page, wallet, account, heading, sign, orderId } = await openOrder()
  await button(page, 'Test wallet').click()
  await sign()
  await heading('Payment authorized')
  await button(page, 'Cancel payment').click()
  await wallet.isAsked()
  await wallet.sign(account)
  await heading('Canceled')
  expect(await stateOf(orderId)).toBe('canceled')
  await page.context().close()
})

test('after a reload a buyer cancels with the wallet that signed, and no other', async () => {
  const { page, wallet, account, heading, sign } = await openOrder()
  const other = await desk.buyer()
  await button(page, 'Test wallet').click()
  await sign()
  await heading('Payment authorized')
  await page.reload()
  await button(page, 'Cancel payment').waitFor()
  await wallet.show(other.address)
  await button(page, 'Cancel payment').click()
  await button(page, 'Test wallet').click()
  await heading('Your wallet uses another account')
  await wallet.show(account.address)
  await button(page, 'Cancel payment').click()
  await wallet.isAsked()
  await wallet.sign(account)
  await heading('Canceled')
  await page.context().close()
})

test('what was signed elsewhere meanwhile needs no second signature', async () => {
  const first = await openOrder()
  const { page, link, account, orderId } = first
  await button(page, 'Test wallet').click()
  await page.getByRole('button', { name: /^Sign payment of/ }).click()
  await first.wallet.isAsked()
  const other = await browser.open()
  const wallet = await addTestWallet(other, account.address)
  await other.goto(link)
  await button(other, 'Test wallet').click()
  await other.getByRole('button', { name: /^Sign payment of/ }).click()
  await wallet.isAsked()
  await wallet.sign(account)
  await first.heading('You no longer need to sign')
  await first.wallet.sign(account)
  await first.heading('Payment authorized')
  expect(await stateOf(orderId)).toBe('stored')
  await page.context().close()
  await other.context().close()
})

test('of two signatures at the same time one is accepted, and both pages say so', async () => {
  const first = await openOrder({ payer: undefined })
  const { link, page, orderId } = first
  const account = await desk.buyer()
  const other = await browser.open()
  const wallet = await addTestWallet(other, account.address)
  await other.goto(link)
  for (const tab of [page, other]) {
    await button(tab, 'Test wallet').click()
    await tab.getByRole('button', { name: /^Sign payment of/ }).click()
  }
  await Promise.all([first.wallet.isAsked(), wallet.isAsked()])
  await Promise.all([first.wallet.sign(first.account), wallet.sign(account)])
  for (const tab of [page, other])
    await tab.getByRole('heading', { name: 'Payment authorized' }).waitFor()
  const { payer = '', state } = await orders.get({ orderId })
  expect(state).toBe('stored')
  expect([first.account.address, account.address].map(String)).toContain(
    getAddress(payer),
  )
  // The shop refuses whoever comes second.
  for (const problem of browser.takeProblems())
    expect(problem).toMatch(/409|422/)
  await page.context().close()
  await other.context().close()
})

test('a Transfer payment is paid, and the page says who can hand it in', async () => {
  const { page, heading, sign, orderId } = await openOrder({
    primaryType: 'TransferWithAuthorization',
  })
  await button(page, 'Test wallet').click()
  await page.getByText('Everything you sign').click()
  await page.getByText('Payment that anyone can hand in').waitFor()
  await sign()
  await heading('Payment authorized')
  await orders.capture({ orderId })
  await heading(/^Paid/)
  await page.context().close()
})

test('a ceiling is signed as a maximum, and the page shows what was charged', async () => {
  const { page, heading, sign, orderId } = await openOrder({
    amount: undefined,
    atMost: '50.00',
  })
  await button(page, 'Test wallet').click()
  await page.getByText('up to 50.00 USDC').first().waitFor()
  await sign()
  await heading('Payment authorized')
  await orders.capture({ orderId, amount: '36.60' })
  await heading(/^Paid/)
  await page.getByText('36.60 USDC').waitFor()
  await page.context().close()
})

test('a ceiling is canceled before it is charged', async () => {
  const { page, wallet, account, heading, sign, orderId } = await openOrder({
    amount: undefined,
    atMost: '50.00',
  })
  await button(page, 'Test wallet').click()
  await sign()
  await heading('Payment authorized')
  await button(page, 'Cancel payment').click()
  await wallet.isAsked()
  await wallet.sign(account)
  await heading('Canceled')
  expect(await stateOf(orderId)).toBe('canceled')
  await page.context().close()
})

test('a refund shows on the page of an order', async () => {
  const { page, heading, sign, orderId } = await openOrder()
  await button(page, 'Test wallet').click()
  await sign()
  await heading('Payment authorized')
  await orders.capture({ orderId })
  await heading(/^Paid/)
  await orders.refund({ orderId, refundId: 'return-1', amount: '2.50' })
  await heading(/2\.50 USDC$/)
  await page.context().close()
})

test('a shop that closes the order before it was signed says so', async () => {
  const { page, heading, orderId } = await openOrder()
  await button(page, 'Test wallet').waitFor()
  await orders.void({ orderId })
  await heading('The shop closed this order')
  await page.getByText('before you signed').waitFor()
  await page.context().close()
})

// It moves the chain's clock, so it is the last.
test('a payment that expired is signed a second time, when the shop asks', async () => {
  const { page, heading, sign, orderId } = await openOrder({ window: 120n })
  await button(page, 'Test wallet').click()
  await sign()
  await heading('Payment authorized')
  await chain.warp(200)
  await heading('This order has expired')
  await expect
    .poll(async () => (await orders.reauthorize({ orderId, window: 900n })).ok)
    .toBe(true)
  await heading('Please sign again')
  await sign()
  await heading('Payment authorized')
  await orders.capture({ orderId })
  await heading(/^Paid/)
  expect(await stateOf(orderId)).toBe('captured')
  await page.context().close()
})
