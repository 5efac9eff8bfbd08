import { deepEqual } from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import ts from 'typescript'
import { readManifest } from './checkContents.js'
import type { Consumer } from './installPackage.js'
import { payOnPage, sampleSignature } from './payOnPage.js'

/** Nothing is imported that an installation would not bring along. */
export function checkImports({ installed }: Consumer): void {
  const { dependencies, peerDependencies, peerDependenciesMeta } =
    readManifest(installed)
  const brought = Object.keys({
    ...dependencies,
    ...peerDependencies,
    ...peerDependenciesMeta,
  })
  const built = ['dist', 'dist/node'].flatMap((folder) =>
    readdirSync(join(installed, folder))
      .filter((file) => /\.(js|d\.ts)$/.test(file))
      .map((file) => join(installed, folder, file)),
  )
  const imported = built.flatMap(bareImports)
  const packages = imported.filter((name) => !name.startsWith('node:'))
  deepEqual(
    packages.filter((name) => !brought.includes(packageOf(name))),
    [],
    'imported without being a dependency',
  )
}

/** Reading and signing a payment takes no line of viem, nor of Node. */
export async function checkBundle({ project }: Consumer): Promise<void> {
  const outfile = join(project, 'checkout.mjs')
  const { metafile } = await build({
    entryPoints: [join(project, 'browser.ts')],
    absWorkingDir: project,
    outfile,
    bundle: true,
    minify: true,
    platform: 'browser',
    format: 'esm',
    metafile: true,
  })
  const [output] = Object.values(metafile.outputs)
  const used = Object.entries(output?.inputs ?? {})
    .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
    .map(([path]) => path)
    .filter((path) => path !== 'browser.ts')
  deepEqual(output?.imports, [])
  deepEqual(
    used.filter((path) => !path.startsWith('node_modules/countersign/dist/')),
    [],
  )
  const { checkout } = await import(pathToFileURL(outfile).href)
  deepEqual(await payOnPage(checkout), sampleSignature)
}

/** The modules of other packages that a file imports. */
function bareImports(path: string): string[] {
  const { importedFiles } = ts.preProcessFile(readFileSync(path, 'utf8'))
  return importedFiles
    .map(({ fileName }) => fileName)
    .filter((name) => !name.startsWith('.'))
}

function packageOf(specifier: string): string {
  const parts = specifier.split('/')
  return parts.slice(0, specifier.startsWith('@') ? 2 : 1).join('/')
}
