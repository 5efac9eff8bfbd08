import { mkdtempSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { AxeBuilder } from '@axe-core/playwright'
import { launch } from '../test/chain/support/openPage.js'

const types: Record<string, string> = {
  html: 'text/html',
  js: 'text/javascript',
  css: 'text/css',
  svg: 'image/svg+xml',
  png: 'image/png',
}
createServer(({ url = '' }, response) => {
  const path = url.split('?')[0] ?? ''
  try {
    const body = readFileSync(`/tmp/readme-site${decodeURIComponent(path)}`)
    response.writeHead(200, {
      'content-type': types[path.split('.').at(-1) ?? ''] ?? 'text/plain',
    })
    response.end(body)
  } catch {
    response.writeHead(404)
    response.end()
  }
}).listen(4567)

const browser = await launch(mkdtempSync('/tmp/axe-'))
for (const colorScheme of ['light', 'dark'] as const)
  for (const width of [1280, 390]) {
    for (const file of process.argv.slice(2)) {
      const page = await browser.newPage()
      await page.setViewportSize({ width, height: 900 })
      await page.emulateMedia({ colorScheme })
      await page.goto(`http://127.0.0.1:4567/${file}`)
      await page.addStyleTag({ content: 'select{display:none}' })
      const { violations } = await new AxeBuilder({ page })
        .setLegacyMode()
        .analyze()
      for (const v of violations) {
        console.log(colorScheme, width, file, v.id, v.nodes.length)
        for (const n of v.nodes.slice(0, 6))
          console.log(
            '    ',
            n.html.slice(0, 150).replaceAll('\n', ' '),
            '::',
            (n.failureSummary ?? '').slice(0, 170).replaceAll('\n', ' '),
          )
      }
      await page.close()
    }
  }
process.exit()
