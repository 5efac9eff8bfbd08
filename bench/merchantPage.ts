import { join } from 'node:path'
import { startDevChain } from 'countersign/devchain'
import { createPages } from 'countersign/pages'
import { sqliteStore } from 'countersign/sql'
import type { Page } from 'playwright-core'
import { privateKeyToAccount } from 'viem/accounts'
import { serveLoopback } from '../src/cli/terminal/serveLoopback.js'
import { launch } from '../test/chain/support/openPage.js'
import { median, type Row } from './compare.js'
import { type FilledShop, fillSqlite } from './ordersMillionFill.js'
import { makeFolder, openShop } from './ordersShop.js'
import { sized } from './sized.js'

const numOrders = 50_000
const rounds = sized(15, 1)

/** Milliseconds wanted of each. */
const goal = 300

type Times = { paint: number; orders: number; filter: number; payer: number }

/**
 * How long a merchant with many orders waits, in Chromium and by the page's own
 * clock: for the page, its first orders, and a filtered list.
 */
export async function benchMerchantPage(): Promise<Row[]> {
  const chain = await startDevChain({ blockTime: 0 })
  const folder = makeFolder()
  const ends: (() => unknown)[] = [folder.remove, () => chain.stop()]
  try {
    const file = join(folder.path, 'shop.db')
    const { timestamp } = await chain.clients.public.getBlock()
    const account = privateKeyToAccount(`0x${'17'.repeat(32)}`)
    await fill(file, {
      chainId: chain.chain.id,
      token: chain.token,
      recipient: account.address.toLowerCase(),
      orders: numOrders,
      open: 200,
      archived: 0,
      perBlock: 10,
      now: Number(timestamp),
    })
    const orders = openShop(chain, {
      url: chain.urls.http,
      store: sqliteStore({ file }),
      key: undefined,
      accounts: [account],
    })
    ends.push(() => orders.close())
    const pages = createPages(orders, {
      payments: '/payments',
      name: 'Bench',
      merchant: { authorize: () => ({ recipients: [account.address] }) },
    })
    const { origin, close } = await serveLoopback(0, pages)
    ends.push(close)
    const browser = await launch(folder.path, { hasFonts: true })
    ends.push(() => browser.close())
    const all: Times[] = []
    for (let round = -2; round < rounds; round++) {
      // A window that has cached nothing.
      const context = await browser.newContext()
      const times = await timePage(
        await context.newPage(),
        `${origin}/merchant/`,
      )
      await context.close()
      if (round >= 0) all.push(times)
    }
    return rowsOf(all)
  } finally {
    for (const end of ends.reverse()) await end()
  }
}

/** Creates the tables, and fills them. */
async function fill(file: string, shop: FilledShop): Promise<void> {
  const store = sqliteStore({ file })
  await store.open()
  await store.close()
  fillSqlite(file, shop)
}

async function timePage(page: Page, url: string): Promise<Times> {
  // The loader wraps functions in a helper that the page lacks.
  await page.addInitScript('globalThis.__name = (value) => value')
  await page.addInitScript(watchOrders)
  await page.goto(url)
  const [paint, orders] = await page.evaluate(() =>
    Promise.all([
      Reflect.get(globalThis, 'firstPaint') as number,
      Reflect.get(globalThis, 'firstOrders') as number,
    ]),
  )
  const filter = await timeFilter(page, { words: 'Expired', count: 50 }, () =>
    page.getByLabel('State').selectOption('expired'),
  )
  await page.getByLabel('State').selectOption('')
  const payer = `0x${'7'.padStart(40, '0')}`
  await page.getByRole('textbox', { name: 'Find' }).fill(payer)
  const ofPayer = await timeFilter(page, { words: '', count: 10 }, () =>
    page.getByRole('button', { name: 'Filter', exact: true }).click(),
  )
  return {
    paint: Number(paint),
    orders: Number(orders),
    filter,
    payer: ofPayer,
  }
}

/** Runs in the page: promises the times of its first paints. */
function watchOrders(): void {
  const painted = new Promise<number>((resolve) => {
    new MutationObserver((_changes, observer) => {
      if (!document.querySelector('.orders-table tr[data-row]')) return
      observer.disconnect()
      requestAnimationFrame(() => setTimeout(() => resolve(performance.now())))
    }).observe(document, { childList: true, subtree: true })
  })
  Reflect.set(globalThis, 'firstOrders', painted)
  const first = new Promise<number>((resolve) => {
    new PerformanceObserver((list) => {
      const [entry] = list.getEntriesByName('first-contentful-paint')
      if (entry) resolve(entry.startTime)
    }).observe({ type: 'paint', buffered: true })
  })
  Reflect.set(globalThis, 'firstPaint', first)
}

/** Milliseconds from an input until all orders of the answer are shown. */
async function timeFilter(
  page: Page,
  wanted: { words: string; count: number },
  act: () => Promise<unknown>,
): Promise<number> {
  const [time] = await Promise.all([page.evaluate(watchRows, wanted), act()])
  return time
}

/** Runs in the page. */
function watchRows({
  words,
  count,
}: {
  words: string
  count: number
}): Promise<number> {
  return new Promise((resolve) => {
    let begun = Number.NaN
    for (const type of ['change', 'submit'])
      document.addEventListener(type, () => (begun = performance.now()), {
        capture: true,
        once: true,
      })
    new MutationObserver((_changes, observer) => {
      const rows = [...document.querySelectorAll('.orders-table tr[data-row]')]
      const isWanted = (row: Element) => row.textContent?.includes(words)
      if (rows.length !== count || !rows.every(isWanted)) return
      observer.disconnect()
      requestAnimationFrame(() =>
        setTimeout(() => resolve(performance.now() - begun)),
      )
    }).observe(document, { childList: true, subtree: true })
  })
}

function rowsOf(all: readonly Times[]): Row[] {
  const row = (name: string, part: keyof Times): Row => {
    const time = median(all.map((times) => times[part]))
    return {
      name: `${numOrders} orders, merchant’s page: ${name}, ${time.toFixed(0)} ms`,
      peer: `limit of ${goal} ms`,
      ratio: goal / time,
      goal: 1,
      unit: 'time',
    }
  }
  return [
    row('first paint', 'paint'),
    row('first orders', 'orders'),
    row('filter by state', 'filter'),
    row('filter by payer', 'payer'),
  ]
}
