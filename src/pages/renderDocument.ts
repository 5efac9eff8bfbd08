import { dataElement } from './web/pageData.js'

type RenderDocumentParameters = {
  language: string
  title: string
  /** Data for the script of the page. */
  data: object
  /** HTML elements. They are not escaped here. */
  styles: readonly string[]
  scripts: readonly string[]
  body: string
}

/** Renders the parts that all pages have in common. */
export function renderDocument(parameters: RenderDocumentParameters): string {
  const { language, title, data, styles, scripts, body } = parameters
  return `<!doctype html>
<html lang="${escapeHtml(language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="data:,">
${styles.join('\n')}
<meta name="${dataElement}" content="${escapeHtml(JSON.stringify(data))}">
${scripts.join('\n')}
</head>
<body>
${body}
</body>
</html>
`
}

type FilesOfPage = {
  /** Paths relative to the page. */
  script: string
  /** What the script imports at once, to be loaded beside it. */
  imports: readonly string[]
  styles: readonly string[]
}

/** The elements that load the files of a page. */
export function linkFiles({
  script,
  imports,
  styles,
}: FilesOfPage): Pick<RenderDocumentParameters, 'styles' | 'scripts'> {
  return {
    styles: styles.map(
      (path) => `<link rel="stylesheet" href="${escapeHtml(path)}">`,
    ),
    scripts: [
      ...imports.map(
        (path) => `<link rel="modulepreload" href="${escapeHtml(path)}">`,
      ),
      `<script type="module" src="${escapeHtml(script)}"></script>`,
    ],
  }
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
