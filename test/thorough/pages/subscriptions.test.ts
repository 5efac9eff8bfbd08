import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from 'playwright-core'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, afterEach, expect, test } from 'vitest'
import { createBaseAccount, manager } from '../../chain/support/baseAccount.js'
import {
  openPagesBrowser,
  openPagesDesk,
} from '../../chain/support/pagesDesk.js'
import { button } from '../../chain/support/shopPage.js'
import { addTestWallet } from '../../chain/support/shopPageWallet.js'

const returnUrl = 'https://shop.example/thanks/7'
const desk = await openPagesDesk({ hasSubscriptions: true })
const browser = await openPagesBrowser()
afterAll(async () => {
  await browser.close()
  await desk.close()
})
afterEach(() => expect(browser.takeProblems()).toEqual([]))

const day = 86_400n

/** Drafts a subscription of a funded smart wallet, and opens its link. */
async function openSubscription(options?: {
  owners?: Parameters<typeof createBaseAccount>[1]
  locale?: string
}) {
  const { chain, pages } = desk
  const { subscriptions } = desk
  if (!subscriptions) throw new Error('no subscriptions')
  const { wallet: signer, ...account } = await createBaseAccount(
    chain,
    options?.owners ?? [manager],
  )
  await account.deploy()
  await chain.mint({ to: account.address, value: 100_000_000n })
  const { subscription } = await subscriptions.draft({
    account: account.address,
    amount: '10',
    allowance: '12',
    period: 30n * day,
    periods: 12,
  })
  const { id: subscriptionId } = subscription
  const { buyerToken } = await subscriptions.issueBuyerToken({ subscriptionId })
  const link = pages.subscribeUrl({ subscriptionId, buyerToken, returnUrl })
  const page = await browser.open({ locale: options?.locale ?? 'en-GB' })
  const wallet = await addTestWallet(page, account.address)
  await page.goto(`${desk.url}${link}`)
  return {
    page,
    wallet,
    subscriptions,
    subscriptionId,
    account: account.address,
    signer: signer as unknown as PrivateKeyAccount,
  }
}

/** What axe finds in both themes, and whether a phone's page is too wide. */
async function findFaults(page: Page): Promise<string[]> {
  const faults: string[] = []
  for (const width of [320, 390, 1280]) {
    await page.setViewportSize({ width, height: 900 })
    const isWide = await page.evaluate(
      () => document.documentElement.scrollWidth > innerWidth,
    )
    if (isWide) faults.push(`${width}: wider than the window`)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      const axe = new AxeBuilder({ page }).setLegacyMode()
      const { violations } = await axe.analyze()
      for (const { id, nodes } of violations)
        faults.push(`${width} ${colorScheme}: ${id}: ${nodes[0]?.html}`)
    }
  }
  return faults
}

test('a person subscribes by the link, sees the first charge, and cancels', async () => {
  const opened = await openSubscription()
  const { page, wallet, signer, subscriptions, subscriptionId } = opened
  const heading = (name: string | RegExp) =>
    page.getByRole('heading', { name, level: 1 }).waitFor()
  await heading('Subscribe to Roastery & Sons')
  const text = (await page.locator('main').innerText()).replaceAll(
    '\u00a0',
    ' ',
  )
  for (const shown of ['10.00 USDC per 30 days', '12.00 USDC', '12', '30 days'])
    expect(text).toContain(shown)
  await page.getByText('Everything you sign').click()
  const { permission } = await subscriptions.get({ subscriptionId })
  const { message } = permission
  const details = page.locator('details')
  for (const shown of [
    manager,
    message.account,
    message.spender,
    message.token,
    String(message.salt),
  ])
    await details.getByText(shown, { exact: true }).first().waitFor()
  expect(await findFaults(page)).toEqual([])
  await button(page, 'Test wallet').click()
  await button(page, 'Sign subscription').click()
  await wallet.isAsked()
  await wallet.refuse(4001)
  await page.getByRole('heading', { name: /^You declined/ }).waitFor()
  await button(page, 'Sign subscription').click()
  await wallet.isAsked()
  await wallet.sign(signer)
  await heading('Subscription active')
  await page.getByText(/^Paid for the period from/).waitFor()
  await page.getByText('Next charge').waitFor()
  expect(await findFaults(page)).toEqual([])
  const back = page.getByRole('link', { name: 'Back to the shop' })
  expect(await back.getAttribute('href')).toBe(returnUrl)

  await page.reload()
  await button(page, 'Cancel subscription').click()
  expect(await findFaults(page)).toEqual([])
  await button(page, 'Keep it').click()
  expect((await subscriptions.get({ subscriptionId })).state).toBe('active')
  await button(page, 'Cancel subscription').click()
  await button(page, 'Yes, cancel it').click()
  await heading('Subscription canceled')
  expect((await subscriptions.get({ subscriptionId })).state).toBe('canceled')
  expect(await page.getByRole('button').count()).toBe(0)
  await page.context().close()
})

test('a wallet that the shop cannot charge is told so, and another account is not asked to sign', async () => {
  const { page, wallet, signer, account } = await openSubscription({
    owners: [],
  })
  await button(page, 'Test wallet').click()
  const other = await desk.buyer()
  await wallet.show(other.address)
  await button(page, 'Sign subscription').click()
  await page.getByRole('heading', { name: /uses another account$/ }).waitFor()
  await wallet.show(account)
  await button(page, 'Sign subscription').click()
  await wallet.isAsked()
  await wallet.sign(signer)
  await page
    .getByRole('heading', { name: 'The shop cannot charge this wallet' })
    .waitFor()
  expect(await findFaults(page)).toEqual([])
  // The browser prints each answer of 4xx.
  expect(browser.takeProblems().every((one) => / 422 /.test(one))).toBe(true)
  await page.context().close()
})

test('the page speaks German, and a link with another token shows nothing', async () => {
  const { page } = await openSubscription({ locale: 'de-DE' })
  await page
    .getByRole('heading', { name: 'Abonnement bei Roastery & Sons' })
    .waitFor()
  const text = (await page.locator('main').innerText()).replaceAll(
    '\u00a0',
    ' ',
  )
  expect(text).toContain('10,00 USDC je 30 Tage')
  await page.goto(page.url().replace(/#.*/, `#${'00'.repeat(32)}`))
  await page.getByRole('heading', { name: /^Dieser Zahlungslink/ }).waitFor()
  expect(browser.takeProblems().every((one) => / 404 /.test(one))).toBe(true)
  await page.context().close()
})
