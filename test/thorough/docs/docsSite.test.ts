import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { pathToFileURL } from 'node:url'
import { inflateSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type Browser, launch } from '../../chain/support/openPage.js'
import {
  type ServedFolder,
  serveFolder,
} from '../../chain/support/serveFolder.js'
import { findFaults } from '../../chain/support/shopPageChecks.js'

vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 })

const folder = mkdtempSync(join(tmpdir(), 'countersign-site-'))
const site = join(folder, 'site')
let browser: Browser
let served: ServedFolder
afterAll(async () => {
  await browser?.close()
  await served?.stop()
  rmSync(folder, { recursive: true, force: true })
})

beforeAll(async () => {
  // As `npm run docs` does, but for the place; a warning is an error.
  const typedoc = 'node_modules/typedoc/bin/typedoc'
  execFileSync(process.execPath, [typedoc, '--out', site], { stdio: 'pipe' })
  served = await serveFolder(site)
  browser = await launch(folder)
})

const filesIn = (ending: RegExp) =>
  readdirSync(site, { recursive: true, encoding: 'utf8' }).filter((file) =>
    ending.test(file),
  )
const readText = (file: string) => readFileSync(join(site, file), 'utf8')

/** What a browser would fetch by itself. */
const loads = [
  /<(?:script|img|iframe|source|video|audio|embed)\b[^>]*\bsrc(?:set)?="([^"]*)"/g,
  /<link\b[^>]*\bhref="([^"]*)"/g,
  /<(?:use|image)\b[^>]*\bhref="([^"]*)"/g,
  /\burl\(\s*["']?([^"')]+)/g,
  /@import\s+["']([^"']+)/g,
  /\b(?:fetch|import|importScripts)\(\s*["'`]([^"'`]+)/g,
]

test('no page, style or script loads anything from elsewhere', () => {
  const files = filesIn(/\.(html|css|js|svg)$/)
  expect(files.length).toBeGreaterThan(100)
  const foreign = files.flatMap((file) => {
    const text = readText(file)
    return loads
      .flatMap((load) => [...text.matchAll(load)])
      .filter(([, address = '']) => /^(\w+:)?\/\//.test(address))
      .map(([match]) => `${file}: ${match}`)
  })
  expect(foreign).toEqual([])
})

test('every link between pages leads somewhere', () => {
  const broken = filesIn(/\.html$/).flatMap((file) =>
    [...readText(file).matchAll(/<a\b[^>]*\bhref="([^"]*)"/g)].flatMap(
      ([, link = '']) => {
        const from = pathToFileURL(join(site, file))
        const to = new URL(link.replaceAll('&amp;', '&'), from)
        const isHere = to.protocol === 'file:'
        return isHere && !existsSync(to) ? [`${file}: ${link}`] : []
      },
    ),
  )
  expect(broken).toEqual([])
})

test('the site has every guide and every import path', () => {
  const { exports } = JSON.parse(readFileSync('package.json', 'utf8'))
  const paths = Object.keys(exports).filter((path) => !/\.json$/.test(path))
  expect(filesIn(/^modules\/.*\.html$/)).toHaveLength(paths.length)
  const { projectDocuments } = JSON.parse(readFileSync('typedoc.json', 'utf8'))
  expect(filesIn(/^documents\/.*\.html$/)).toHaveLength(projectDocuments.length)
})

type Found = { name: string; url: string; parent?: string }
type Lunr = {
  Index: { load(index: object): { search(words: string): { ref: string }[] } }
}

/** The index the page searches, asked by the library the page has in it. */
function search(words: string): (Found | undefined)[] {
  const [, packed = ''] = /"(.+)"/.exec(readText('assets/search.js')) ?? []
  const text = inflateSync(Buffer.from(packed, 'base64')).toString()
  const { rows, index }: { rows: Found[]; index: object } = JSON.parse(text)
  const typedoc = createRequire(import.meta.url).resolve('typedoc')
  const lunr: Lunr = createRequire(typedoc)('lunr')
  return lunr.Index.load(index)
    .search(words)
    .map(({ ref }) => rows[Number(ref)])
}

test.each([
  ['verifyPayment', 'verifyPayment'],
  ['createPaymentHandler', 'createPaymentHandler'],
  ['InvalidAmountError', 'InvalidAmountError'],
  // Words of a comment, and words that stand in one page alone.
  ['eth_sendRawTransactionSync', 'capturePaymentSync'],
  ['PgBouncer', 'Stores and scaling'],
  ['Denim', 'Finality and pre-confirmations'],
  ['wagmi', 'Recipes'],
  ['ethers', 'Recipes'],
  ['Privy', 'Recipes'],
  ['SafeAppProvider', 'Recipes'],
  ['Fastify', 'Recipes'],
  ['Next.js', 'Recipes'],
  ['lossAfterFulfilment', 'Events'],
])('a search for %s finds %s', (words, name) => {
  const found = search(words).slice(0, 10)
  expect(found.map((row) => row?.name)).toContain(name)
  for (const row of found) expect(filesIn(/html$/)).toContain(urlOf(row))
})

const urlOf = (row: Found | undefined) => row?.url.split('#')[0]

async function openPage(
  path: string,
  viewport = { width: 1280, height: 720 },
): Promise<Page> {
  const context = await browser.newContext({ viewport })
  const page = await context.newPage()
  await page.goto(`${served.origin}/${path}`)
  // The browser of the tests has no font for a list of options, and ends.
  await page.addStyleTag({ content: 'select { display: none }' })
  // On a phone the menu is closed.
  await page.waitForSelector('.tsd-navigation .tsd-accordion', {
    state: 'attached',
  })
  return page
}

/** Each kind of page: the start, a guide, a table, and what code becomes. */
test.each([
  'index.html',
  'documents/Quick_start_for_a_dapp.html',
  'documents/Reasons,_outcomes_and_errors.html',
  'modules/countersign.html',
  'functions/countersign.signPayment.html',
  'classes/countersign.SendError.html',
  'types/countersign.Payment.html',
  'hierarchy.html',
])('axe finds no fault in %s', async (path) => {
  const page = await openPage(path)
  expect(await findFaults(page)).toEqual([])
  await page.context().close()
})

test('axe finds no fault in open groups, settings and results of a search', async () => {
  const page = await openPage('modules/countersign.html')
  await page.evaluate(() => {
    for (const it of document.querySelectorAll('details')) it.open = true
  })
  expect(await findFaults(page)).toEqual([])
  await findOnPage(page, 'capture')
  expect(await findFaults(page)).toEqual([])
  await page.context().close()
})

test('the groups of the sidebar are open, by task, until somebody closes one', async () => {
  const page = await openPage('index.html')
  const group = page.locator('.tsd-navigation details', { hasText: 'Run it' })
  const guide = page.locator('.tsd-navigation a', {
    hasText: 'Backups and failover',
  })
  await guide.waitFor({ state: 'visible' })
  await group.locator('summary').first().click()
  await guide.waitFor({ state: 'hidden' })
  await page.reload()
  await page.waitForSelector('.tsd-navigation .tsd-accordion')
  await guide.waitFor({ state: 'hidden' })
  await page.context().close()
})

type Hit = { name: string; snippet: string }

/** The results, as the page ranks and shows them. */
async function findOnPage(page: Page, words: string): Promise<Hit[]> {
  await page.locator('#tsd-search-trigger').click()
  // Words that are typed before the index is there find nothing.
  await page.locator('#tsd-search-status:empty').waitFor({ state: 'attached' })
  // The browser of the tests takes no keys in this dialog.
  await page.locator('#tsd-search-input').evaluate((input, text) => {
    Object.assign(input, { value: text }).dispatchEvent(new Event('input'))
  }, words)
  const results = page.locator('#tsd-search-results [role=option]')
  await results.first().waitFor()
  return results.evaluateAll((all) =>
    all.map((it) => {
      const textOf = (kind: string) =>
        it.querySelector(`.${kind}`)?.textContent ?? ''
      return { name: textOf('name'), snippet: textOf('snippet') }
    }),
  )
}

/** The methods that an interface of orders writes out itself. */
function methodsOf(name: string): string[] {
  const path = `src/orders/${name}.ts`
  const source = existsSync(path) ? readFileSync(path, 'utf8') : ''
  const [, body = ''] =
    /^export interface [^{]*\{\n(.*?)\n\}/ms.exec(source) ?? []
  return [...body.matchAll(/^ {2}(\w+)\(/gm)].map(([, it = '']) => it)
}

const methods = [...methodsOf('Orders'), ...methodsOf('DestinationOrders')]

test('each method of orders has a page, and is in the sidebar once, by task', async () => {
  const page = await openPage('index.html')
  expect(methods).toEqual(expect.arrayContaining(['capture', 'close', 'run']))
  const links = page.locator('.tsd-navigation a[href*="/methods/orders."]')
  const names = await links.allTextContents()
  expect([...names].sort()).toEqual(
    [...new Set(methods)].map((name) => `orders.${name}`).sort(),
  )
  expect(names.slice(0, 3)).toEqual([
    'orders.draft',
    'orders.accept',
    'orders.capture',
  ])
  expect(names.at(-1)).toBe('orders.close')
  const glossary = page.locator('.tsd-navigation a', { hasText: /^Glossary$/ })
  expect(await glossary.count()).toBe(1)
  await page.context().close()
})

test.each(methods)(
  'the page of orders.%s is called so, and names its guide',
  (name) => {
    const html = readText(`methods/orders.${name}.html`)
    expect(html).toContain(`<h1>orders.${name}</h1>`)
    expect(html).toContain(`<title>orders.${name} |`)
    expect(html).toMatch(/Guide: <a href="[^"]*documents\//)
    const signatures = html.split('class="tsd-description"').length - 1
    expect(
      html.split('<h4 class="tsd-anchor-link" id="throws').length - 1,
    ).toBeLessThanOrEqual(signatures)
  },
)

test('the page of a method shows its fields, defaults, result and reasons', async () => {
  const page = await openPage('methods/orders.capture.html')
  const fields = page.locator('.fields').first()
  const texts = await fields.locator('dt, dd').allTextContents()
  expect(texts[0]).toBe('orderId string')
  const at = texts.indexOf('timeout number optional')
  expect(texts[at + 1]).toMatch(/Milliseconds to wait.*Default: 60_000$/s)
  const headings = await page.locator('.tsd-description h2').allTextContents()
  expect(headings).toEqual(['Fields', 'Result', 'Reasons'])
  const reason = page.locator('.reasons tr', { hasText: 'feeTooHigh' })
  expect(await reason.textContent()).toContain('Try when gas is cheaper')
  expect(await findFaults(page)).toEqual([])
  await page.getByRole('link', { name: "An order's life" }).last().click()
  await page.waitForURL('**/documents/An_order_s_life.html')
  await page.context().close()
})

test('the page of a function shows the same, without the name of a guide', () => {
  const html = readText('functions/countersign.parseAmount.html')
  expect(html).toContain('<h1>parseAmount</h1>')
  const text = html.replace(/<[^>]+>/g, '').replace(/\s+/g, ' ')
  expect(text).toContain('decimals number optional Default: 6')
  expect(text).toContain('Returns bigint.')
})

test.each([
  ['countersign.signPayment', ['wallet', 'expect', 'payment'], 'request'],
  ['countersign_http.createPaymentHandler', ['orders', 'authorize'], 'capture'],
  ['countersign_webhooks.runWebhooks', ['orders', 'targets'], 'capture'],
])(
  'the page of %s lists its options, and what stands before them as one',
  (page, has, lacks) => {
    const html = readText(`functions/${page}.html`)
    const names = [...html.matchAll(/<code class="name">(\w+)</g)].map(
      ([, name]) => name,
    )
    expect(names).toEqual(expect.arrayContaining(has))
    expect(names).not.toContain(lacks)
  },
)

test.each([
  'index.html',
  'documents/An_order_s_life.html',
  'documents/Reasons,_outcomes_and_errors.html',
  'methods/orders.capture.html',
])(
  'on a phone, code and drawings of %s scroll, and the page does not',
  async (path) => {
    const page = await openPage(path, { width: 390, height: 844 })
    const found = await page.evaluate(() => {
      const styles = (selector: string) =>
        [...document.querySelectorAll(selector)].map((it) =>
          getComputedStyle(it),
        )
      return {
        width: document.documentElement.scrollWidth,
        wraps: styles('.tsd-typography pre').map((it) => it.whiteSpace),
        drawings: styles('.tsd-typography p > img[src$=".svg"]').map((it) =>
          Number.parseFloat(it.width),
        ),
      }
    })
    expect(found.width).toBe(390)
    for (const wrap of found.wraps) expect(wrap).toBe('pre')
    // Narrower, the words of a drawing could not be read.
    for (const width of found.drawings) expect(width).toBeGreaterThan(600)
    await page.context().close()
  },
)

test('the list of pages reaches the end of the window, and headings stand at the left edge', async () => {
  const page = await openPage('documents/An_order_s_life.html', {
    width: 1280,
    height: 900,
  })
  const found = await page.evaluate(() => {
    const boxOf = (selector: string) =>
      document.querySelector(selector)?.getBoundingClientRect()
    return {
      end: boxOf('.site-menu')?.bottom,
      heading: boxOf('.tsd-typography h2')?.left,
      text: boxOf('.tsd-typography p')?.left,
      before: getComputedStyle(
        document.querySelector('.tsd-typography h2') ?? document.body,
      ).marginTop,
    }
  })
  expect(found.end).toBeGreaterThan(890)
  // The heading begins with its link, which is outside the column.
  expect(found.heading).toBeLessThanOrEqual(found.text ?? 0)
  expect(found.before).toBe('36px')
  await page.context().close()
})

test('the words around a find end with a whole word', async () => {
  const page = await openPage('index.html')
  const hits = await findOnPage(page, 'error')
  const cut = hits.filter(({ snippet }) => snippet.endsWith('…'))
  expect(cut.length).toBeGreaterThan(0)
  const texts = filesIn(/^documents\/.*\.html$/)
    .map((file) => readText(file).replace(/<[^>]+>/g, ' '))
    .join(' ')
  for (const { snippet } of cut) {
    const found = /([A-Za-z]+)\W+([A-Za-z]+)\W*…$/.exec(snippet)
    const [, before = '', last = ''] = found ?? []
    expect(texts).toMatch(new RegExp(`\\b${before}\\W+${last}\\b`))
  }
  await page.context().close()
})

test.each([
  ['error', 'Reasons, outcomes and errors'],
  ['refund', 'Refunds'],
  ['webhook', 'Webhooks'],
  ['capture', 'orders.capture'],
  ['verifyPayments', 'verifyPayments'],
])(
  'a search on the page for %s finds %s first, and shows where',
  async (words, name) => {
    const page = await openPage('index.html')
    const hits = await findOnPage(page, words)
    expect(hits[0]?.name).toBe(name)
    expect(hits.filter((hit) => hit.name === name)).toHaveLength(1)
    expect(hits[0]?.snippet.length).toBeGreaterThan(40)
    await page.context().close()
  },
)

test('a result opens the page, at the part that says the words', async () => {
  const page = await openPage('index.html')
  const [first] = await findOnPage(page, 'failover to a standby')
  expect(first?.name).toBe('Backups and failover')
  await page.locator('#tsd-search-results a').first().click()
  await page.waitForURL('**/Backups_and_failover.html#failover-to-a-standby')
  await page.context().close()
})

test('the front page has code, one picture and where to begin', async () => {
  const page = await openPage('index.html')
  const front = page.locator('.front')
  expect(await front.locator('pre').count()).toBe(1)
  expect(await front.locator('img').count()).toBe(1)
  const ways = front.locator('p', { hasText: 'Begin with' }).locator('a')
  expect(await ways.allTextContents()).toEqual([
    'two questions',
    'your backend',
    'your page',
  ])
  await page.context().close()
})

test('each guide leads to the next, from the first to the last', () => {
  const next = (file: string) => {
    const [, link] =
      /<a rel="next" href="\.\.\/([^"]+)"/.exec(readText(file)) ?? []
    return link
  }
  const guides = readdirSync('docs').filter((file) => /\.md$/.test(file))
  const seen = new Set<string>()
  for (
    let file: string | undefined =
      'documents/Two_questions_before_you_begin.html';
    file && !seen.has(file);
    file = next(file)
  )
    seen.add(file)
  // With security and the changelog, and without the front page.
  expect(seen.size).toBe(guides.length + 1)
})
