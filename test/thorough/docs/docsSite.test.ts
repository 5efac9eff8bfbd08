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
  const guides = readdirSync('docs').filter((file) => /\.md$/.test(file))
  const { projectDocuments, readme } = JSON.parse(
    readFileSync('typedoc.json', 'utf8'),
  )
  expect([readme, ...projectDocuments]).toEqual(
    expect.arrayContaining(guides.map((file) => `docs/${file}`)),
  )
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
  ['Safe', 'Recipes'],
  ['Fastify', 'Recipes'],
  ['Next.js', 'Recipes'],
  ['lossAfterFulfilment', 'Events'],
])('a search for %s finds %s', (words, name) => {
  const found = search(words).slice(0, 10)
  expect(found.map((row) => row?.name)).toContain(name)
  for (const row of found) expect(filesIn(/html$/)).toContain(urlOf(row))
})

const urlOf = (row: Found | undefined) => row?.url.split('#')[0]

async function openPage(path: string): Promise<Page> {
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(`${served.origin}/${path}`)
  // The browser of the tests has no font for a list of options, and ends.
  await page.addStyleTag({ content: 'select { display: none }' })
  await page.waitForSelector('.tsd-navigation .tsd-accordion')
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

/** The names of the results, as the page ranks them. */
async function findOnPage(page: Page, words: string): Promise<string[]> {
  await page.locator('#tsd-search-trigger').click()
  // Words that are typed before the index is there find nothing.
  await page.locator('#tsd-search-status:empty').waitFor({ state: 'attached' })
  // The browser of the tests takes no keys in this dialog.
  await page.locator('#tsd-search-input').evaluate((input, text) => {
    Object.assign(input, { value: text }).dispatchEvent(new Event('input'))
  }, words)
  const results = page.locator('#tsd-search-results [role=option]')
  await results.first().waitFor()
  return results.allTextContents()
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

test('each method of orders has a page, is in the sidebar and is found first', async () => {
  const page = await openPage('index.html')
  expect(methods).toEqual(expect.arrayContaining(['capture', 'close', 'run']))
  for (const name of methods) {
    expect(filesIn(/^methods\//)).toContain(`methods/orders.${name}.html`)
    const link = `.tsd-navigation a[href$="/methods/orders.${name}.html"]`
    expect(await page.locator(link).count()).toBe(1)
  }
  const [first = ''] = await findOnPage(page, 'capture')
  expect(first.replace(/\s/g, '')).toBe('countersign/orders.Orders.capture')
  await page.locator('#tsd-search-results a').first().click()
  await page.waitForURL('**/methods/orders.capture.html')
  await page.context().close()
})
