import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { register } from 'node:module'
import { basename, join } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild'
import type { Asset, PageAssets } from '../src/pages/assets.js'
import type { Inlined } from '../src/pages/paywallAssets.js'
import { cutViem } from './takeParts.js'

/** The modules that are replaced by the files of pages. */
const assetsModule =
  /[\\/]src[\\/](?:pages[\\/]\w+Assets|element[\\/]elementStyles)\.ts$/

/** How all pages are bundled. */
const browserBuild = {
  bundle: true,
  minify: true,
  format: 'esm',
  platform: 'browser',
  target: 'es2022',
  jsx: 'automatic',
  define: { 'process.env.NODE_ENV': '"production"' },
  legalComments: 'none',
  plugins: [{ name: 'cut viem', setup: cutViem }],
  metafile: true,
  write: false,
  logLevel: 'error',
} as const satisfies BuildOptions

/** What a module exports, and what that is made of. */
type Bundled = { value: unknown; metafiles: readonly Metafile[] }

type Entries = {
  /** Beginning of the script's name. */
  name: string
  script: string
  style: string
}

/** Bundles a page for browsers, with files of its own. */
async function bundlePage(
  root: string,
  { name, script, style }: Entries,
): Promise<Bundled> {
  const { outputFiles, metafile } = await build({
    ...browserBuild,
    absWorkingDir: root,
    entryPoints: { [name]: script, look: style },
    outdir: 'dist/pages',
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    splitting: true,
  })
  const used = namesUsed(metafile, [script, style])
  const files = outputFiles
    .filter(({ path }) => used.has(basename(path)))
    .map(({ path, text }) => assetOf(path, text))
  const nameOf = (entry: string): string => {
    const found = Object.entries(metafile.outputs).find(
      ([, { entryPoint }]) => entryPoint === entry,
    )
    if (!found) throw new Error(`The page has no file of ${entry}.`)
    return basename(found[0])
  }
  const first = nameOf(script)
  const imports = metafile.outputs[`dist/pages/${first}`]?.imports ?? []
  const value: PageAssets = {
    script: first,
    style: nameOf(style),
    imports: imports
      .filter(({ kind }) => kind === 'import-statement')
      .map(({ path }) => basename(path)),
    files,
  }
  return { value, metafiles: [metafile] }
}

/**
 * The names of all files that a page can load. esbuild also makes files of code
 * that it then finds to be unused.
 */
function namesUsed(
  { outputs }: Metafile,
  entries: readonly string[],
): ReadonlySet<string> {
  const used = new Set<string>()
  const add = (path: string): void => {
    if (used.has(path)) return
    used.add(path)
    for (const { path: next } of outputs[path]?.imports ?? []) add(next)
  }
  for (const [path, { entryPoint = '' }] of Object.entries(outputs))
    if (entries.includes(entryPoint)) add(path)
  return new Set([...used].map((path) => basename(path)))
}

function assetOf(path: string, text: string): Asset {
  const bytes = Buffer.from(text)
  const brotli = brotliCompressSync(bytes, {
    params: { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
  })
  return {
    name: basename(path),
    type: `${path.endsWith('.css') ? 'text/css' : 'text/javascript'}; charset=utf-8`,
    brotli: brotli.toString('base64'),
  }
}

/** Bundles a script or a style sheet that stands in the page itself. */
async function bundleInline(
  root: string,
  file: string,
): Promise<{ inlined: Inlined; metafile: Metafile }> {
  const { outputFiles, metafile } = await build({
    ...browserBuild,
    absWorkingDir: root,
    entryPoints: [`src/pages/web/${file}`],
  })
  const text = outputFiles[0]?.text.trim() ?? ''
  if (/<\/(script|style)|<!--/i.test(text))
    throw new Error(`${file} cannot stand in a page.`)
  const hash = createHash('sha256').update(text).digest('base64')
  return { inlined: { text, hash: `sha256-${hash}` }, metafile }
}

/** What each of the modules exports, under the name of its file. */
const bundlers: Readonly<Record<string, (root: string) => Promise<Bundled>>> = {
  payAssets: (root) =>
    bundlePage(root, {
      name: 'pay',
      script: 'src/pages/web/main.ts',
      style: 'src/pages/web/pay.css',
    }),
  subscribeAssets: (root) =>
    bundlePage(root, {
      name: 'subscribe',
      script: 'src/pages/web/subscribe.ts',
      style: 'src/pages/web/pay.css',
    }),
  merchantAssets: (root) =>
    bundlePage(root, {
      name: 'merchant',
      script: 'src/pages/merchant/main.tsx',
      style: 'src/pages/merchant/look.css',
    }),
  // A gate serves the addresses that it sells, and no others.
  paywallAssets: async (root) => {
    const script = await bundleInline(root, 'paywall.ts')
    const style = await bundleInline(root, 'pay.css')
    return {
      value: { script: script.inlined, style: style.inlined },
      metafiles: [script.metafile, style.metafile],
    }
  },
  elementStyles: async (root) => {
    const { inlined, metafile } = await bundleInline(root, 'pay.css')
    return { value: inlined.text, metafiles: [metafile] }
  },
}

/** The source of a module that has the files of pages, and what is inside. */
async function bundleModule(
  root: string,
  module: string,
): Promise<{ source: string; metafiles: readonly Metafile[] }> {
  const name = basename(module, '.ts')
  const bundler = bundlers[name]
  if (!bundler) throw new Error(`No files of pages are made for ${module}.`)
  const { value, metafiles } = await bundler(root)
  const source = `export const ${name} = ${JSON.stringify(value)}\n`
  return { source, metafiles }
}

/** Modules that both builds load from one file, because they are large. */
const shared = /^\.\/\w+Assets\.js$/

/**
 * Puts the files of pages into the build; given where `dist` is, leaves the large
 * ones to `writePageAssets`. Stands before all plugins that resolve or load.
 */
export function pageAssets(root: string, dist?: './' | '../'): Plugin {
  return {
    name: 'files of the pages',
    setup: ({ onResolve, onLoad }) => {
      if (dist)
        onResolve({ filter: shared }, ({ path }) => ({
          path: dist + basename(path),
          external: true,
        }))
      onLoad({ filter: assetsModule }, async ({ path }) => ({
        contents: (await bundleModule(root, path)).source,
        loader: 'js',
      }))
    },
  }
}

/** Writes the modules that `pageAssets` left out; returns what is inside. */
export async function writePageAssets(root: string): Promise<Metafile[]> {
  const names = Object.keys(bundlers).filter((name) =>
    shared.test(`./${name}.js`),
  )
  const all = await Promise.all(
    names.map(async (name) => {
      const { source, metafiles } = await bundleModule(root, name)
      writeFileSync(join(root, `dist/${name}.js`), source)
      return metafiles
    }),
  )
  return all.flat()
}

/** Puts the files of pages into the modules for tests, which run the sources. */
export function vitePageAssets(root: string): {
  name: string
  load(id: string): Promise<string> | undefined
} {
  const sources = new Map<string, Promise<string>>()
  return {
    name: 'files of the pages',
    load: (id) => {
      if (!assetsModule.test(id)) return undefined
      const source =
        sources.get(id) ?? bundleModule(root, id).then((made) => made.source)
      sources.set(id, source)
      return source
    },
  }
}

/** The same for programs that run the sources, such as the example shop. */
export async function registerPageAssets(root: string): Promise<void> {
  const sources = await Promise.all(
    Object.keys(bundlers).map(async (name) => [
      `/${name}.ts`,
      (await bundleModule(root, name)).source,
    ]),
  )
  const hooks = `
    let sources
    export const initialize = (given) => { sources = given }
    export const load = (url, context, next) => {
      const found = sources.find(([end]) => url.split('?')[0].endsWith(end))
      return found
        ? { format: 'module', source: found[1], shortCircuit: true }
        : next(url, context)
    }`
  register(`data:text/javascript,${encodeURIComponent(hooks)}`, {
    data: sources,
  })
}
