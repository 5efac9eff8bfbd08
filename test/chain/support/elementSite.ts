import { basename } from 'node:path'
import process from 'node:process'
import { build } from 'esbuild'
import { pageAssets } from '../../../scripts/bundlePages.js'

/** A page of a shop with nothing on it but the script of the element. */
const page = `<!doctype html>
<html lang="en">
<title>Roastery</title>
<script type="module" src="/element/index.js"></script>
<main></main>
</html>`

/** No style of any place, and no script but the site's own. */
const policy =
  "default-src 'none'; script-src 'self'; connect-src 'self'; img-src data:"

/** Answers for a page with the element, as a strict site serves it. */
export async function openElementSite(): Promise<
  (path: string) => Response | undefined
> {
  const { outputFiles } = await build({
    absWorkingDir: process.cwd(),
    entryPoints: ['src/element/index.ts'],
    outdir: 'dist/element',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    plugins: [pageAssets(process.cwd())],
    write: false,
    logLevel: 'error',
  })
  const scripts = new Map(
    outputFiles.map(({ path, text }) => [`/element/${basename(path)}`, text]),
  )
  return (path) => {
    const script = scripts.get(path)
    if (script === undefined && path !== '/shop') return undefined
    const type = script === undefined ? 'text/html' : 'text/javascript'
    return new Response(script ?? page, {
      headers: { 'content-type': type, 'content-security-policy': policy },
    })
  }
}
