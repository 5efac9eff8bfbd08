import { basename } from 'node:path'
import process from 'node:process'
import { build } from 'esbuild'
import { pageAssets } from '../../../scripts/bundlePages.js'

/** A page of a shop that contains only the script of the element. */
const page = `<!doctype html>
<html lang="en">
<title>Roastery</title>
<script type="module" src="/element/index.js"></script>
<main></main>
</html>`

/** Allows no inline style, and only the site's own scripts. */
const policy =
  "default-src 'none'; script-src 'self'; connect-src 'self'; img-src data:"

/** Serves a page with the element, as a strict site does. */
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
