import { escapeHtml, renderDocument } from './renderDocument.js'
import type { ShopData } from './web/pageData.js'

type RenderPageParameters = {
  data: ShopData
  logo: string | undefined
  /** HTML elements. They are not escaped here. */
  styles: readonly string[]
  scripts: readonly string[]
}

/** Renders the document of a page for buyers. It contains no order's data. */
export function renderPage(parameters: RenderPageParameters): string {
  const { data, logo, ...files } = parameters
  const { name, words, language, terms } = data
  const picture = logo && `<img class="logo" src="${escapeHtml(logo)}" alt="">`
  return renderDocument({
    ...files,
    data,
    language,
    title: words.payTo.replace('{name}', () => name),
    body: `<header class="top">${picture ?? ''}<p>${escapeHtml(name)}</p></header>
<main id="main"><section class="card loading"><h1>${escapeHtml(words.loading)}</h1><noscript><p>${escapeHtml(words.needsScript)}</p></noscript></section></main>
<p id="status" class="unseen" role="status"></p>
<footer>${terms ? `<a href="${escapeHtml(terms)}">${escapeHtml(words.terms)}</a>` : ''}</footer>`,
  })
}
