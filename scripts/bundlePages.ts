import { basename } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { build, type Metafile, type Plugin } from 'esbuild'
import type { Asset, PageAssets } from '../src/pages/assets.js'
import { cutViem } from './takeParts.js'

/** The module that is replaced by the files of the page. */
const assetsModule = /[\\/]src[\\/]pages[\\/]assets\.ts$/

/** The module that is replaced by the page's style sheet, for the element. */
const stylesModule = /[\\/]src[\\/]element[\\/]elementStyles\.ts$/

/** Bundles the payment page for browsers, in all forms that it is sent in. */
async function bundlePages(root: string): Promise<PageAssets> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: {
      pay: 'src/pages/web/main.ts',
      look: 'src/pages/web/pay.css',
    },
    outdir: 'dist/pages',
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    legalComments: 'none',
    plugins: [{ name: 'cut viem', setup: cutViem }],
    metafile: true,
    write: false,
    logLevel: 'error',
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

/** The source of a module that has files of the page; `undefined` for others. */
function readSource(root: string): (id: string) => Promise<string> | undefined {
  let bundling: Promise<PageAssets> | undefined
  const bundle = () => {
    bundling ??= bundlePages(root)
    return bundling
  }
  return (id) => {
    if (assetsModule.test(id))
      return bundle().then(
        (assets) => `export const assets = ${JSON.stringify(assets)}\n`,
      )
    if (stylesModule.test(id))
      return bundle().then(({ style, files }) => {
        const text = files.find(({ name }) => name === style)?.text
        return `export const elementStyles = ${JSON.stringify(text)}\n`
      })
    return undefined
  }
}

/**
 * Puts the files of the page into the build. Stands before all plugins that
 * load sources: the first one that does so wins.
 */
export function pageAssets(root: string): Plugin {
  return {
    name: 'files of the pages',
    setup: ({ onLoad }) => {
      const read = readSource(root)
      for (const filter of [assetsModule, stylesModule])
        onLoad({ filter }, async ({ path }) => ({
          contents: (await read(path)) ?? '',
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
  return { name: 'files of the pages', load: readSource(root) }
}
