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
import { afterAll, beforeAll, expect, test, vi } from 'vitest'

vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 })

const folder = mkdtempSync(join(tmpdir(), 'countersign-site-'))
const site = join(folder, 'site')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

beforeAll(() => {
  // As `npm run docs` does, but for the place; a warning is an error.
  const typedoc = 'node_modules/typedoc/bin/typedoc'
  execFileSync(process.execPath, [typedoc, '--out', site], { stdio: 'pipe' })
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
  ['lossAfterFulfilment', "An order's life"],
])('a search for %s finds %s', (words, name) => {
  const found = search(words).slice(0, 10)
  expect(found.map((row) => row?.name)).toContain(name)
  for (const row of found) expect(filesIn(/html$/)).toContain(urlOf(row))
})

const urlOf = (row: Found | undefined) => row?.url.split('#')[0]

/** The sections of a page, each by the name of its member. */
function membersIn(page: string): Map<string, string> {
  const [, ...sections] = readText(page).split(
    '<section class="tsd-panel tsd-member',
  )
  return new Map(
    sections.flatMap((section) => {
      const [, name] =
        /<h3 class="tsd-anchor-link" id="([^"]+)"/.exec(section) ?? []
      return name === undefined ? [] : [[name, section] as const]
    }),
  )
}

test.each([
  ['Orders', 18],
  ['DestinationOrders', 14],
])(
  'the page of %s shows each of its methods with text and example',
  (name, count) => {
    const members = membersIn(`interfaces/countersign_orders.${name}.html`)
    expect(members.size).toBe(count)
    for (const [method, section] of members)
      expect([method, section]).toEqual([
        method,
        expect.stringMatching(
          /tsd-comment[\s\S]*<h4 class="tsd-anchor-link"[^>]*>Example/,
        ),
      ])
  },
)
