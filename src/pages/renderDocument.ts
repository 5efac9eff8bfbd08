import { dataElement } from './web/pageData.js'

type RenderDocumentParameters = {
  language: string
  title: string
  /** What the script of the page is told. */
  data: object
  /** Paths relative to the page. */
  script: string
  /** What the script imports at once, to be loaded beside it. */
  imports: readonly string[]
  styles: readonly string[]
  /** HTML. */
  body: string
}

/** Renders the document of a page, which has the data of no order. */
export function renderDocument(parameters: RenderDocumentParameters): string {
  const { language, title, data, script, imports, styles, body } = parameters
  return `<!doctype html>
<html lang="${escapeHtml(language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="data:,">
${styles.map((path) => `<link rel="stylesheet" href="${escapeHtml(path)}">`).join('\n')}
<meta name="${dataElement}" content="${escapeHtml(JSON.stringify(data))}">
${imports.map((path) => `<link rel="modulepreload" href="${escapeHtml(path)}">`).join('\n')}
<script type="module" src="${escapeHtml(script)}"></script>
</head>
<body>
${body}
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

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => entities[character] ?? '')
}
