import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { deflateSync, inflateSync } from 'node:zlib'
import {
  Converter,
  DefaultTheme,
  DefaultThemeRenderContext,
  IndexEvent,
  JSX,
  KindRouter,
  PageEvent,
  PageKind,
  ReflectionKind,
  RendererEvent,
} from 'typedoc'
import { callBody, isMethod, joinThrows, tasks } from './siteMethods.js'

/** Pages for people who build this library, after all others. */
const inside = 'Contributing'

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
    'pages',
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
  [inside]: ['CONTRIBUTING', 'README'],
}
const otherPages = 'Look things up'
const methodsOfOrders = 'Methods of orders'

/** Opens the groups above until the reader closes them. */
const openGroups = `for (const group of ${JSON.stringify([
  ...Object.keys(groups),
  methodsOfOrders,
  ...Object.keys(tasks).map((task) => `${methodsOfOrders}$${task}`),
  otherPages,
])}) {
  const key = 'tsd-accordion-' + group
  localStorage.getItem(key) ?? localStorage.setItem(key, 'true')
}`

/** Parts whose import path is not named like their folder. */
const importPaths = { payments: 'countersign', chain: 'countersign/reads' }

class SiteRouter extends KindRouter {
  getPageKind(target) {
    return isMethod(target) ? PageKind.Reflection : super.getPageKind(target)
  }

  getIdealBaseName(target) {
    return isMethod(target)
      ? `methods/orders.${target.name}`
      : super.getIdealBaseName(target)
  }
}

/** What the pages have beside, or in place of, what the stock theme writes. */
class SiteContext extends DefaultThemeRenderContext {
  constructor(...given) {
    super(...given)
    const { header, memberSignatureBody, documentTemplate, indexTemplate } =
      this
    this.header = (page) => {
      const { model } = page
      // A guide begins with its own heading.
      if (model.isDocument()) return ''
      const isCalled = model.kindOf(ReflectionKind.Function)
      if (!isMethod(model) && !isCalled) return header(page)
      const name = isCalled ? model.name : `orders.${model.name}`
      return JSX.createElement(
        'div',
        { class: 'tsd-page-title' },
        this.breadcrumbs(model),
        JSX.createElement('h1', null, name),
      )
    }
    const isCall = (it) => isMethod(it) || it.kindOf(ReflectionKind.Function)
    this.memberSignatureBody = (signature, options) =>
      signature.parent === this.model && isCall(signature.parent)
        ? callBody(this, signature)
        : memberSignatureBody(signature, options)
    this.documentTemplate = (page) => [documentTemplate(page), neighbours(this)]
    this.indexTemplate = (page) =>
      JSX.createElement('div', { class: 'front' }, indexTemplate(page))
  }
}

/** Links to the guides before and after, in the order of the sidebar. */
function neighbours(context) {
  const { project, url } = context.page
  const pages = context.theme
    .getNavigation(project)
    .filter(({ text }) => text in groups || text === otherPages)
    .filter(({ text }) => text !== inside)
    .flatMap(({ children }) => children)
  const at = pages.findIndex(({ path }) => path === url)
  if (at < 0) return ''
  const link = (page, rel, label) =>
    page &&
    JSX.createElement(
      'a',
      { rel, href: context.relativeURL(page.path) },
      JSX.createElement('span', null, label),
      page.text,
    )
  return JSX.createElement(
    'nav',
    { class: 'neighbours', 'aria-label': 'Previous and next guide' },
    link(pages[at - 1], 'prev', 'Previous'),
    link(pages[at + 1], 'next', 'Next'),
  )
}

class SiteTheme extends DefaultTheme {
  ContextClass = SiteContext

  buildNavigation(project) {
    const top = super
      .buildNavigation(project)
      .map((it) => (it.text === 'Modules' ? { ...it, text: 'Reference' } : it))
    const methods = new Map(
      project
        .getReflectionsByKind(ReflectionKind.Method)
        .filter(isMethod)
        .map((it) => [it.name, it]),
    )
    const children = Object.entries(tasks).map(([text, names]) => ({
      text,
      children: Object.keys(names).map((name) => {
        const method = methods.get(name)
        if (!method) throw new Error(`orders.${name} is gone: see siteMethods.`)
        const path = this.router.getFullUrl(method)
        return { text: `orders.${name}`, path, kind: method.kind }
      }),
    }))
    const methodsAndTypes = [
      { text: methodsOfOrders, children },
      ...top.filter(({ text }) => text === 'Reference'),
    ]
    const pages = top.filter(({ text }) => text !== 'Reference')
    const last = pages.findIndex(({ text }) => text === inside)
    return pages.toSpliced(last, 0, ...methodsAndTypes).map(unlinkSummary)
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
  app.converter.on(Converter.EVENT_BEGIN, (context) => {
    const kept = app.options.getValue('intentionallyNotExported')
    for (const name of unexportedTypes())
      if (!kept.includes(name)) context.inlineType.add(name)
  })
  app.converter.on('createDocument', (_, page) => {
    const text = page.content.map((part) => part.text).join('')
    const [file] = page.name.split('/').slice(-1)
    const group = Object.entries(groups).find(([, names]) =>
      names.includes(file),
    )
    page.frontmatter.group = group?.[0] ?? otherPages
    page.frontmatter.file = file
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
  app.converter.on(Converter.EVENT_RESOLVE_END, ({ project }) => {
    for (const it of project.getReflectionsByKind(ReflectionKind.SomeSignature))
      joinThrows(it)
  })
  const texts = new Map()
  app.renderer.on(IndexEvent.PREPARE_INDEX, (event) => {
    event.searchResults = event.searchResults.filter(isFound)
    for (const it of event.searchResults)
      texts.set(event.searchResults.indexOf(it), {
        ...(isMethod(it) && { title: `orders.${it.name}` }),
        ...(isLast(it) && { isLast: true }),
        text: summaryOf(it),
      })
  })
  // After the files of the theme are there.
  app.renderer.on(
    RendererEvent.END,
    ({ outputDirectory }) => extendSearch(outputDirectory, texts, guideTexts),
    -1000,
  )
  const guideTexts = new Map()
  app.renderer.on(PageEvent.END, (page) => {
    if (page.model.isDocument?.())
      guideTexts.set(page.url, sectionsOf(page.contents ?? ''))
    if (isMethod(page.model))
      page.contents = page.contents?.replace(
        `<title>${page.model.name} `,
        `<title>orders.${page.model.name} `,
      )
    page.contents = levelHeadings(
      page.contents
        ?.replace('<div class="col-content"', '$& role="main"')
        .replace(
          '<div class="col-sidebar"',
          '$& role="complementary" aria-label="Contents"',
        )
        .replace(summaries, (summary) => summary.replaceAll(permalinks, ''))
        // On a phone drawings and tables scroll: the keyboard has to reach them.
        .replace(/<p>(?=<img src="[^"]*\.svg")/g, '<p tabindex="0">')
        .replace(/<table(?=[ >])/g, '<table tabindex="0"'),
    )
  })
}

/** The types that no entry exports: the pages show their members in place. */
function unexportedTypes() {
  const files = readdirSync('src', { recursive: true })
    .filter((name) => /\.ts$/.test(name) && !/\.test\.ts$/.test(name))
    .map((name) => ({ name, text: readFileSync(join('src', name), 'utf8') }))
  const exported = files
    .filter(({ name }) => /^\w+.index\.ts$/.test(name))
    .flatMap(({ text }) => text.match(/\w+/g))
  return files
    .flatMap(({ text }) => [...text.matchAll(/^(?:export )?type (\w+)/gm)])
    .map(([, name]) => name)
    .filter((name) => !exported.includes(name))
}

/** A method that a smaller interface has too is found once. */
const isFound = (it) =>
  it.parent?.name !== 'DestinationOrders' &&
  (it.isDocument() || !it.parent?.kindOf(ReflectionKind.TypeLiteral))

/** What a reader seldom looks for: fields, and pages for people who build this. */
const isLast = (it) =>
  it.kindOf(ReflectionKind.Property) ||
  (it.isDocument() &&
    ['CHANGELOG', ...groups[inside]].includes(it.frontmatter.file))

function summaryOf(it) {
  const comment = it.comment ?? it.signatures?.[0]?.comment
  const text = comment?.summary.map((part) => part.text).join('') ?? ''
  return text.replace(/[\s`]+/g, ' ').trim()
}

/** The text of a page, cut at its headings. */
function sectionsOf(html) {
  const [, main = ''] = html.split('tsd-panel tsd-typography')
  const [text = ''] = main.split('<nav class="neighbours"', 1)
  return text.split(/(?=<h[23][ >])/).map((part) => {
    const [, anchor = '', heading = ''] =
      /^<h[23][^>]*?id="([^"]*)"[^>]*>(.*?)<\/h[23]>/s.exec(part) ?? []
    const rest = part.replace(/^<h[23].*?<\/h[23]>/s, '').replace(/^[^<]*>/, '')
    return { anchor, heading: plain(heading), text: plain(rest) }
  })
}

const marks = { lt: '<', gt: '>', amp: '&', quot: '"', '#39': "'" }
const plain = (html) =>
  html
    .replace(/<(h1|pre|button|svg)\b.*?<\/\1>/gs, ' ')
    .replace(/<\/?(a|code|em|strong)\b[^>]*>/g, '')
    .replace(/<[^>]+>/g, ' ')
    .replace(/&(lt|gt|amp|quot|#39);/g, (_, name) => marks[name])
    .replace(/\s+/g, ' ')
    .trim()

/** Where the theme's script ranks what the index found, and shows it. */
const seams = [
  [
    's[a],l=r.data.rows[Number(c.ref)],d=1;l.name.toLowerCase().startsWith(i.toLowerCase())&&(d*=10/(1+Math.abs(l.name.length-i.length))),c.score*=d',
    's[a];c.score=siteSearch.rank(r.data.rows[Number(c.ref)],i,c.score)',
  ],
  // An option of a list cannot hold a link: it opens its page by itself.
  [
    `v.tabIndex=-1,v.href=r.base+c.url,v.innerHTML=d+\`<span class="text">\${f}</span>\``,
    'v.onclick=()=>location.assign(r.base+siteSearch.urlOf(c,i)),v.innerHTML=d+siteSearch.show(c,i)',
  ],
]

/** Gives the search of the pages its order, and texts to show. */
function extendSearch(folder, texts, guideTexts) {
  const script = join(folder, 'assets', 'main.js')
  const ours = readFileSync(new URL('siteSearch.js', import.meta.url), 'utf8')
  let code = readFileSync(script, 'utf8')
  for (const [theirs, own] of seams) {
    if (!code.includes(theirs))
      throw new Error('The theme of typedoc has changed: see extendSearch.')
    code = code.replace(theirs, () => own)
  }
  writeFileSync(script, `${ours}\n${code}`)

  const index = join(folder, 'assets', 'search.js')
  const [, packed] = /"(.+)"/.exec(readFileSync(index, 'utf8'))
  const data = JSON.parse(inflateSync(Buffer.from(packed, 'base64')))
  for (const [at, row] of data.rows.entries())
    Object.assign(row, texts.get(at), {
      sections: guideTexts.get(row.url),
    })
  const deflated = deflateSync(JSON.stringify(data)).toString('base64')
  writeFileSync(index, `window.searchData = "${deflated}";`)
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
