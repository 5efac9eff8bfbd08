import process from 'node:process'
import { build } from 'esbuild'
import { expect, test } from 'vitest'
import { entryFiles } from '../../scripts/entryFiles.js'
import { openDoors } from '../../scripts/openDoors.js'

const root = process.cwd()
const { orders, http } = entryFiles

/** The sources that `countersign/http` loads, if it is built beside orders. */
async function sourcesOfHttp(
  plugins: ReturnType<typeof openDoors>[],
): Promise<string[]> {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: { orders, http },
    bundle: true,
    splitting: true,
    format: 'esm',
    target: 'es2022',
    platform: 'neutral',
    packages: 'external',
    outdir: 'out',
    write: false,
    metafile: true,
    logLevel: 'silent',
    plugins,
  })
  const loaded = new Set(['out/http.js'])
  for (const file of loaded)
    for (const { path } of metafile.outputs[file]?.imports ?? [])
      loaded.add(path)
  return [...loaded].flatMap((file) =>
    Object.keys(metafile.outputs[file]?.inputs ?? {}),
  )
}

const ofSubmitters = (file: string) =>
  /^src\/orders\/(account|sending|nonces|submitter)\//.test(file)

test('the routes load nothing of orders that sends', async () => {
  const files = await sourcesOfHttp([openDoors(root)])
  expect(files).toContain('src/orders/ledger/toCsv.ts')
  expect(files.filter(ofSubmitters)).toEqual([])
})

test('without the plugin, the routes load all of orders', async () => {
  expect((await sourcesOfHttp([])).filter(ofSubmitters)).not.toEqual([])
})
