import { writeFileSync } from 'node:fs'
import { register } from 'node:module'
import { basename, join } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'
import { build, type Metafile, type Plugin } from 'esbuild'
import type { Asset, PageAssets } from '../src/pages/assets.js'
import { cutViem } from './takeParts.js'

type Bundle = {
  /** Name of the constant that the module exports. */
  name: string
  script: string
  style: string
}

/** The modules beside `createPages` that are replaced by files of pages. */
const bundles: Readonly<Record<string, Bundle>> = {
  payAssets: {
    name: 'pay',
    script: 'src/pages/web/main.ts',
    style: 'src/pages/web/pay.css',
  },
  merchantAssets: {
    name: 'merchant',
    script: 'src/pages/merchant/main.tsx',
    style: 'src/pages/merchant/look.css',
  },
}

const assetsModule = /[\\/]src[\\/]pages[\\/](\w+Assets)\.ts$/

type Bundled = { assets: PageAssets; metafile: Metafile }

/** Bundles pages for browsers. */
async function bundlePages(
  root: string,
  { name, script, style }: Bundle,
): Promise<Bundled> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: { [name]: script, look: style },
    outdir: 'dist/pages',
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
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
  return {
    assets: {
      script: first,
      style: nameOf(style),
      imports: imports
        .filter(({ kind }) => kind === 'import-statement')
        .map(({ path }) => basename(path)),
      files,
    },
    metafile,
  }
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

/** The source of a module that has the files of pages, and what is inside. */
async function bundleModule(
  root: string,
  module: string,
): Promise<{ source: string; metafile: Metafile }> {
  const bundle = bundles[module]
  if (!bundle) throw new Error(`No pages are bundled for ${module}.`)
  const { assets, metafile } = await bundlePages(root, bundle)
  const source = `export const ${module} = ${JSON.stringify(assets)}\n`
  return { source, metafile }
}

const moduleOf = (path: string) => assetsModule.exec(path)?.[1]

/**
 * Leaves the files of pages out of a build, as modules of their own in `dist`,
 * which both builds load. Stands before all plugins that resolve or load.
 */
export function pageAssets(from: './' | '../'): Plugin {
  return {
    name: 'files of the pages',
    setup: ({ onResolve }) => {
      onResolve({ filter: /^\.\/\w+Assets\.js$/ }, ({ path }) => ({
        path: from + basename(path),
        external: true,
      }))
    },
  }
}

/** Writes the modules that `pageAssets` left out; returns what is inside. */
export async function writePageAssets(root: string): Promise<Metafile[]> {
  return Promise.all(
    Object.keys(bundles).map(async (module) => {
      const { source, metafile } = await bundleModule(root, module)
      writeFileSync(join(root, `dist/${module}.js`), source)
      return metafile
    }),
  )
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
      const module = moduleOf(id)
      if (!module) return undefined
      const source =
        sources.get(module) ??
        bundleModule(root, module).then((bundled) => bundled.source)
      sources.set(module, source)
      return source
    },
  }
}

/** The same for programs that run the sources, such as the example shop. */
export async function registerPageAssets(root: string): Promise<void> {
  const modules = Object.keys(bundles)
  const sources = await Promise.all(
    modules.map(async (module) => [
      `/src/pages/${module}.ts`,
      (await bundleModule(root, module)).source,
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
