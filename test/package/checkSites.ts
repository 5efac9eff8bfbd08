import { deepEqual } from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { pathToFileURL } from 'node:url'
import * as countersign from 'countersign'
import * as reads from 'countersign/reads'
import { build as bundle } from 'esbuild'
import { build } from 'vite'
import { type Consumer, run } from './installPackage.js'
import { payOnPage, sampleSignature } from './payOnPage.js'

/** Vite builds a page of all that is made for pages, and says nothing of it. */
export async function checkVite({ project }: Consumer): Promise<void> {
  const warnings: string[] = []
  await build({
    root: project,
    configFile: false,
    logLevel: 'silent',
    build: {
      modulePreload: { polyfill: false },
      rolldownOptions: {
        onLog: (_, { message }) => warnings.push(message),
      },
    },
  })
  deepEqual(warnings, [])
  const assets = join(project, 'dist/assets')
  const script = readdirSync(assets).find((name) => name.startsWith('index'))
  await import(pathToFileURL(join(assets, script ?? '')).href)
  const { page } = globalThis as unknown as Built
  deepEqual(namesOf(page.countersign), namesOf(countersign))
  deepEqual(namesOf(page.reads), namesOf(reads))
  deepEqual(await payOnPage(page.checkout), sampleSignature)
}

/** What the page leaves for whoever looks. */
type Built = {
  page: {
    checkout: Parameters<typeof payOnPage>[0]
    countersign: object
    reads: object
  }
}

const namesOf = (exported: object): string[] => Object.keys(exported).sort()

/** A worker takes all of it in one file, without Node, and answers. */
export async function checkWorker({ project }: Consumer): Promise<void> {
  const outfile = join(project, 'worker.mjs')
  const { metafile } = await bundle({
    entryPoints: [join(project, 'worker.ts')],
    outfile,
    bundle: true,
    minify: true,
    platform: 'neutral',
    mainFields: ['module', 'main'],
    conditions: ['worker', 'workerd'],
    format: 'esm',
    metafile: true,
    logLevel: 'silent',
  })
  deepEqual(
    Object.values(metafile.outputs).flatMap(({ imports }) => imports),
    [],
  )
  const { worker } = await import(pathToFileURL(outfile).href)
  const ask = async (path: string): Promise<number> => {
    const response = await worker.fetch(new Request(`https://shop.test${path}`))
    return response.status
  }
  deepEqual(
    [await ask('/openapi.json'), await ask('/orders/1'), await ask('/none')],
    [200, 404, 404],
  )
}

/** A server's bundle leaves out packages that are absent, in CommonJS too. */
export async function checkServerBundle({ project }: Consumer): Promise<void> {
  const outfile = join(project, 'server.cjs')
  await bundle({
    stdin: {
      contents: `
        import { postgresStore, sqliteStore } from 'countersign/sql'
        const stores = [
          sqliteStore({ file: 'orders.db' }),
          postgresStore({ connectionString: 'postgres://x' }),
        ]
        Promise.all(
          stores.map((store) => store.open().catch(({ message }) => message)),
        ).then((problems) => console.log(JSON.stringify(problems)))
      `,
      resolveDir: project,
    },
    outfile,
    // Absent as well, but imported without a choice once a store is open.
    external: ['kysely'],
    bundle: true,
    platform: 'node',
    format: 'cjs',
    logLevel: 'silent',
  })
  const problem =
    'The store needs the package kysely, which is not installed: run npm install kysely.'
  deepEqual(JSON.parse(run(project, process.execPath, [outfile])), [
    problem,
    problem,
  ])
}
