import { createHash } from 'node:crypto'
import { basename } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild'
import type { Asset, PageAssets } from '../src/pages/assets.js'
import type { Inlined } from '../src/pages/paywallAssets.js'
import { cutViem } from './takeParts.js'

/** The modules that are replaced by the files of the pages. */
const assetsModule =
  /[\\/]src[\\/](?:pages[\\/](?:assets|paywallAssets)|element[\\/]elementStyles)\.ts$/

/** How both pages are bundled. */
const browserBuild = {
  bundle: true,
  minify: true,
  format: 'esm',
  platform: 'browser',
  target: 'es2022',
  legalComments: 'none',
  plugins: [{ name: 'cut viem', setup: cutViem }],
  write: false,
  logLevel: 'error',
} as const satisfies BuildOptions

/** Bundles the payment page for browsers, in all forms that it is sent in. */
async function bundlePages(root: string): Promise<PageAssets> {
  const { outputFiles, metafile } = await build({
    ...browserBuild,
    absWorkingDir: root,
    entryPoints: {
      pay: 'src/pages/web/main.ts',
      look: 'src/pages/web/pay.css',
    },
    outdir: 'dist/pages',
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    splitting: true,
    metafile: true,
  })
  const used = namesUsed(metafile)
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
  const script = nameOf('src/pages/web/main.ts')
  const imports = metafile.outputs[`dist/pages/${script}`]?.imports ?? []
  return {
    script,
    style: nameOf('src/pages/web/pay.css'),
    imports: imports
      .filter(({ kind }) => kind === 'import-statement')
      .map(({ path }) => basename(path)),
    files,
  }
}

/**
 * The names of all files that the page can load. esbuild also makes files of
 * code that it then finds to be unused.
 */
function namesUsed({ outputs }: Metafile): ReadonlySet<string> {
  const used = new Set<string>()
  const add = (path: string): void => {
    if (used.has(path)) return
    used.add(path)
    for (const { path: next } of outputs[path]?.imports ?? []) add(next)
  }
  for (const [path, { entryPoint }] of Object.entries(outputs))
    if (entryPoint?.startsWith('src/pages/web/')) add(path)
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
    text,
    brotli: brotli.toString('base64'),
    gzip: gzipSync(bytes, { level: 9 }).toString('base64'),
  }
}

/**
 * Bundles the paywall, whose script and styles stand in the page itself: a gate
 * serves the addresses that it sells, and no others.
 */
async function bundlePaywall(
  root: string,
): Promise<Record<'script' | 'style', Inlined>> {
  const [script, style] = await Promise.all(
    ['paywall.ts', 'pay.css'].map(async (file): Promise<Inlined> => {
      const { outputFiles } = await build({
        ...browserBuild,
        absWorkingDir: root,
        entryPoints: [`src/pages/web/${file}`],
      })
      const text = outputFiles[0]?.text.trim() ?? ''
      if (/<\/(script|style)|<!--/i.test(text))
        throw new Error(`${file} cannot stand in a page.`)
      const hash = createHash('sha256').update(text).digest('base64')
      return { text, hash: `sha256-${hash}` }
    }),
  )
  if (!script || !style) throw new Error('The paywall has no files.')
  return { script, style }
}

/** What each of the modules exports, under the name of its file. */
const bundlers: Readonly<Record<string, (root: string) => Promise<unknown>>> = {
  assets: bundlePages,
  paywallAssets: bundlePaywall,
  elementStyles: async (root) => (await bundlePaywall(root)).style.text,
}

/** The source of a module that has the files of a page. */
async function assetsSource(root: string, module: string): Promise<string> {
  const name = basename(module, '.ts')
  const assets = await bundlers[name]?.(root)
  return `export const ${name} = ${JSON.stringify(assets)}\n`
}

/**
 * Puts the files of the page into the build. Stands before all plugins that
 * load sources: the first one that does so wins.
 */
export function pageAssets(root: string): Plugin {
  return {
    name: 'files of the pages',
    setup: ({ onLoad }) => {
      onLoad({ filter: assetsModule }, async ({ path }) => ({
        contents: await assetsSource(root, path),
        loader: 'js',
      }))
    },
  }
}

/** The same for tests, which run the sources. */
export function vitePageAssets(root: string): {
  name: string
  load(id: string): Promise<string> | undefined
} {
  const sources = new Map<string, Promise<string>>()
  return {
    name: 'files of the pages',
    load: (id) => {
      if (!assetsModule.test(id)) return undefined
      const source = sources.get(id) ?? assetsSource(root, id)
      sources.set(id, source)
      return source
    },
  }
}
