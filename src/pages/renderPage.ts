import { dataElement, type PageData, type ShopData } from './web/pageData.js'

type RenderPageParameters = {
  data: PageData
  /** Paths relative to the page. */
  script: string
  /** What the script imports at once, to be loaded beside it. */
  imports: readonly string[]
  styles: readonly string[]
  logo: string | undefined
}

/** Renders the document of the payment page, which has the data of no order. */
export function renderPage(parameters: RenderPageParameters): string {
  const { data, script, imports, styles, logo } = parameters
  return renderDocument({
    data,
    logo,
    styles: styles.map(
      (path) => `<link rel="stylesheet" href="${escapeHtml(path)}">`,
    ),
    scripts: [
      ...imports.map(
        (path) => `<link rel="modulepreload" href="${escapeHtml(path)}">`,
      ),
      `<script type="module" src="${escapeHtml(script)}"></script>`,
    ],
  })
}

type RenderDocumentParameters = {
  data: ShopData
  logo: string | undefined
  /** Elements, not escaped here. */
  styles: readonly string[]
  scripts: readonly string[]
}

/** Renders what all pages of a shop have in common. */
export function renderDocument(parameters: RenderDocumentParameters): string {
  const { data, logo, styles, scripts } = parameters
  const { name, words, language, terms } = data
  const picture = logo && `<img class="logo" src="${escapeHtml(logo)}" alt="">`
  return `<!doctype html>
<html lang="${escapeHtml(language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${escapeHtml(words.payTo.replace('{name}', () => name))}</title>
<link rel="icon" href="data:,">
${styles.join('\n')}
<meta name="${dataElement}" content="${escapeHtml(JSON.stringify(data))}">
${scripts.join('\n')}
</head>
<body>
<header class="top">${picture ?? ''}<p>${escapeHtml(name)}</p></header>
<main id="main"><section class="card loading"><h1>${escapeHtml(words.loading)}</h1><noscript><p>${escapeHtml(words.needsScript)}</p></noscript></section></main>
<p id="status" class="unseen" role="status"></p>
<footer>${terms ? `<a href="${escapeHtml(terms)}">${escapeHtml(words.terms)}</a>` : ''}</footer>
</body>
</html>
`
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => entities[character] ?? '')
}
