import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BrowserContext, Locator, Page } from 'playwright-core'
import {
  type Shop,
  type StartShopParameters,
  startShop,
} from '../../../examples/shop/server/startShop.js'
import { launch } from './openPage.js'

/** A shop, and a browser beside it. */
export type ShopDesk = {
  shop: Shop
  /** A window of someone who was never here before. */
  openWindow(options?: WindowOptions): Promise<ShopWindow>
  /** What any page printed as an error since, policy violations included. */
  takeProblems(): string[]
  close(): Promise<void>
}

export type WindowOptions = {
  width?: number | undefined
  height?: number | undefined
  /** Pixels of the picture for each of the page's. */
  scale?: number | undefined
  theme?: 'light' | 'dark' | undefined
}

type ShopWindow = {
  context: BrowserContext
  page: Page
}

export async function openDesk(
  parameters: StartShopParameters = {},
): Promise<ShopDesk> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-browser-'))
  const shop = await startShop(parameters)
  const browser = await launch(folder, { hasFonts: true })
  const problems: string[] = []
  return {
    shop,
    takeProblems: () => problems.splice(0),
    openWindow: async (options = {}) => {
      const { width = 1280, height = 900, scale = 1, theme } = options
      const context = await browser.newContext({
        viewport: { width, height },
        deviceScaleFactor: scale,
        colorScheme: theme ?? 'light',
        locale: 'en-GB',
        timezoneId: 'UTC',
        reducedMotion: 'reduce',
      })
      // A slow machine must not decide about a test.
      context.setDefaultTimeout(120_000)
      context.on('page', (page) => {
        page.on('pageerror', (error) => problems.push(String(error)))
        page.on('console', (message) => {
          if (message.type() === 'error') problems.push(message.text())
        })
      })
      const page = await context.newPage()
      return { context, page }
    },
    close: async () => {
      await browser.close()
      await shop.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Checks out with products; the page of the order is open afterwards. */
export async function orderFirst(
  page: Page,
  { url }: Shop,
  names: readonly string[] = ['House Blend, 250 g'],
): Promise<void> {
  await page.goto(url)
  for (const name of names) await button(page, `Add ${name} to basket`).click()
  await page.getByRole('link', { name: /^Basket/ }).click()
  await button(page, 'Check out').click()
  await page.getByRole('heading', { name: 'Pay Countersign Coffee' }).waitFor()
}

/** Has the development wallet ask whether to sign the payment. */
export async function askWallet(page: Page): Promise<void> {
  await button(page, 'Development wallet').click()
  await page.getByRole('button', { name: /^Sign payment of/ }).click()
  await button(page, 'Sign payment').waitFor()
}

/** Lets the development wallet pay. */
export async function authorize(page: Page): Promise<void> {
  await askWallet(page)
  await button(page, 'Sign payment').click()
}

export function button(page: Page, name: string): Locator {
  return page.getByRole('button', { name, exact: true })
}

/** Waits for one of these states of the order on its page. */
export async function reaches(page: Page, ...states: string[]): Promise<void> {
  const wanted = states.map((state) => `[data-state="${state}"]`).join(', ')
  await page.locator(wanted).waitFor()
}

/** Waits until nothing can take the payment back any more. */
export async function isFinal(page: Page): Promise<void> {
  await page.getByRole('heading', { name: 'Paid, and final' }).waitFor()
}

export const orderIdOf = (page: Page): string =>
  new URL(page.url()).pathname.split('/').at(-1) ?? ''

/** Captures the newest order as its merchant does. */
export async function captureNewest(page: Page): Promise<void> {
  await askCapture(page).click()
  await button(page, 'Capture now').click()
}

/** The button of the newest order that can be captured. */
export function askCapture(page: Page): Locator {
  return page.getByRole('button', { name: /^Capture order/ }).first()
}
