import { escapeHtml, renderDocument } from './renderDocument.js'
import type { ShopData } from './web/pageData.js'
import type { PageWords } from './words/types.js'

/** The words of the title, and those shown until the script has begun. */
export type PageTitles = Readonly<Record<'title' | 'loading', keyof PageWords>>

const ofPayment: PageTitles = { title: 'payTo', loading: 'loading' }

type RenderPageParameters = {
  data: ShopData<PageWords>
  /** @default those of a payment */
  titles?: PageTitles | undefined
  logo: string | undefined
  /** HTML elements. They are not escaped here. */
  styles: readonly string[]
  scripts: readonly string[]
}

/** Renders the document of a page for buyers. It contains no order's data. */
export function renderPage(parameters: RenderPageParameters): string {
  const { data, titles = ofPayment, logo, ...files } = parameters
  const { name, words, language, terms } = data
  const picture = logo && `<img class="logo" src="${escapeHtml(logo)}" alt="">`
  return renderDocument({
    ...files,
    data,
    language,
    title: words[titles.title].replace('{name}', () => name),
    body: `<header class="top">${picture ?? ''}<p>${escapeHtml(name)}</p></header>
<main id="main"><section class="card loading"><h1>${escapeHtml(words[titles.loading])}</h1><noscript><p>${escapeHtml(words.needsScript)}</p></noscript></section></main>
<p id="status" class="unseen" role="status"></p>
<footer>${terms ? `<a href="${escapeHtml(terms)}">${escapeHtml(words.terms)}</a>` : ''}</footer>`,
  })
}
