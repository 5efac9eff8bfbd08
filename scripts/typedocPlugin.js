import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  DefaultTheme,
  IndexEvent,
  JSX,
  KindRouter,
  PageEvent,
  PageKind,
  ReflectionKind,
  RendererEvent,
} from 'typedoc'

/** The sidebar, by task. `typedoc.json` has the order of the groups. */
const groups = {
  'Start here': [
    'choose',
    'quickstart-dapp',
    'quickstart-backend',
    'recipes',
    'migrate-viem',
    'migrate-x402',
    'ways-to-pay',
  ],
  'Take payments': ['payments', 'tokens', 'finality', 'batches', 'refunds'],
  'Keep orders': [
    'lifecycle',
    'events',
    'http',
    'webhooks',
    'x402',
    'x402-facilitator',
    'subscriptions',
    'stores',
  ],
  'Run it': [
    'going-live',
    'settings',
    'alerts',
    'backups',
    'cli',
    'books',
    'SECURITY',
    'testing',
    'devchain',
    'runtimes',
    'benchmarks',
  ],
  // The page of differences stands beside the tests of the specification.
  Contributing: ['CONTRIBUTING', 'README'],
}
const otherPages = 'Look things up'
const methodsOfOrders = 'Methods of orders'

/** Opens the groups above until the reader closes them. */
const openGroups = `for (const group of ${JSON.stringify([
  ...Object.keys(groups),
  methodsOfOrders,
  otherPages,
])}) {
  const key = 'tsd-accordion-' + group
  localStorage.getItem(key) ?? localStorage.setItem(key, 'true')
}`

/** Parts whose import path is not named like their folder. */
const importPaths = { payments: 'countersign', chain: 'countersign/reads' }

/** The interface whose methods have a page each. */
const isOrders = (it) =>
  it?.name === 'Orders' && it.kindOf?.(ReflectionKind.Interface)
const isVerb = (it) =>
  it.kindOf?.(ReflectionKind.Method) === true && isOrders(it.parent)

class SiteRouter extends KindRouter {
  getPageKind(target) {
    return isVerb(target) ? PageKind.Reflection : super.getPageKind(target)
  }

  getIdealBaseName(target) {
    return isVerb(target)
      ? `methods/orders.${target.name}`
      : super.getIdealBaseName(target)
  }
}

class SiteTheme extends DefaultTheme {
  buildNavigation(project) {
    const top = super
      .buildNavigation(project)
      .map((it) => (it.text === 'Modules' ? { ...it, text: 'Reference' } : it))
    const verbs = project
      .getReflectionsByKind(ReflectionKind.Method)
      .filter(isVerb)
      .map((it) => ({
        text: `orders.${it.name}`,
        path: this.router.getFullUrl(it),
        kind: it.kind,
      }))
    const pages = top.filter(({ text }) => text !== 'Reference')
    const reference = top.filter(({ text }) => text === 'Reference')
    const methods = { text: methodsOfOrders, children: verbs }
    return [...pages, ...(verbs.length ? [methods] : []), ...reference].map(
      unlinkSummary,
    )
  }
}

/** A heading that opens and closes cannot be a link too: its page moves into its list. */
function unlinkSummary({ path, children, ...it }) {
  if (!children?.length) return { ...it, path }
  const own = path ? [{ text: 'Overview', path }] : []
  return { ...it, children: [...own, ...children.map(unlinkSummary)] }
}

/**
 * A plugin of typedoc's: names pages by their first heading and entries by
 * their import path, sorts pages into the sidebar, gives each method of orders
 * a page, and mends what the stock theme lacks for screen readers. A link in
 * the comments of one entry may name what another entry exports.
 *
 * @param {import('typedoc').Application} app
 */
export function load(app) {
  app.renderer.defineRouter('countersign', SiteRouter)
  app.renderer.defineTheme('countersign', SiteTheme)
  app.renderer.hooks.on('head.end', () =>
    JSX.createElement(
      'script',
      null,
      JSX.createElement(JSX.Raw, { html: openGroups }),
    ),
  )
  app.converter.on('createDocument', (_, page) => {
    const text = page.content.map((part) => part.text).join('')
    const [file] = page.name.split('/').slice(-1)
    const group = Object.entries(groups).find(([, names]) =>
      names.includes(file),
    )
    page.frontmatter.group = group?.[0] ?? otherPages
    page.name = /^# (.+)$/m.exec(text)?.[1] ?? file
  })
  app.converter.on('createDeclaration', (_, it) => {
    if (it.kind === ReflectionKind.Module)
      it.name = importPaths[it.name] ?? `countersign/${it.name}`
  })
  app.converter.addUnknownSymbolResolver(({ symbolReference }, { project }) => {
    const [name] = symbolReference?.path ?? []
    const target = project.children
      ?.flatMap(({ children = [] }) => children)
      .find((child) => child.name === name?.path)
    return target && { target }
  })
  app.renderer.on(IndexEvent.PREPARE_INDEX, ({ searchResults }) => {
    for (const it of searchResults) if (isVerb(it)) it.relevanceBoost = 20
  })
  // After the files of the theme are there.
  app.renderer.on(
    RendererEvent.END,
    ({ outputDirectory }) => unlinkOptions(outputDirectory),
    -1000,
  )
  app.renderer.on(PageEvent.END, (page) => {
    page.contents = levelHeadings(
      page.contents
        ?.replace('<div class="col-content"', '$& role="main"')
        .replace(
          '<div class="col-sidebar"',
          '$& role="complementary" aria-label="Contents"',
        )
        .replace(summaries, (summary) => summary.replaceAll(permalinks, '')),
    )
  })
}

/** What the stock theme writes for a found page: a link inside an option. */
const linkInOption = 'v.tabIndex=-1,v.href=r.base+c.url'

/** An option of a list cannot hold a link: it opens its page by itself. */
function unlinkOptions(folder) {
  const path = join(folder, 'assets', 'main.js')
  const script = readFileSync(path, 'utf8')
  if (!script.includes(linkInOption))
    throw new Error('The theme of typedoc has changed: see unlinkOptions.')
  const opens = 'v.onclick=()=>location.assign(r.base+c.url)'
  writeFileSync(path, script.replace(linkInOption, opens))
}

const summaries = /<summary\b.*?<\/summary>/gs
const permalinks = /<a\b[^>]*class="tsd-anchor-icon"[^>]*>.*?<\/a>/gs

/** Says the level of each heading that skips one, as the theme's styles do. */
function levelHeadings(html) {
  const above = []
  return html?.replace(/<h([1-6])(?=[\s>])/g, (start, digit) => {
    const level = Number(digit)
    while (above.length && above.at(-1).level >= level) above.pop()
    const shown = above.length ? above.at(-1).shown + 1 : level
    above.push({ level, shown })
    return shown === level ? start : `${start} aria-level="${shown}"`
  })
}
