import { deepEqual } from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { encodePayment } from 'countersign'
import { samplePayment } from 'countersign/testing'
import { build } from 'esbuild'
import ts from 'typescript'
import { readManifest } from './checkContents.js'
import type { checkout } from './consumer/browser.js'
import type { Consumer } from './installPackage.js'

/** Nothing is imported that an installation would not bring along. */
export async function checkImports({ installed }: Consumer): Promise<void> {
  const { dependencies, peerDependencies } = readManifest(installed)
  const brought = Object.keys({ ...dependencies, ...peerDependencies })
  const dist = join(installed, 'dist')
  const built = readdirSync(dist).filter((file) => /\.(js|d\.ts)$/.test(file))
  const imported = built.flatMap((file) => bareImports(join(dist, file)))
  const packages = imported.filter((name) => !name.startsWith('node:'))
  deepEqual(
    packages.filter((name) => !brought.includes(packageOf(name))),
    [],
    'imported without being a dependency',
  )

  for (const entry of ['index', 'reads', 'testing']) {
    const { metafile } = await build({
      entryPoints: [join(dist, `${entry}.js`)],
      bundle: true,
      packages: 'external',
      platform: 'neutral',
      format: 'esm',
      metafile: true,
      write: false,
    })
    const inputs = Object.values(metafile.inputs)
    const external = inputs.flatMap(({ imports }) =>
      imports.filter((it) => it.external).map(({ path }) => packageOf(path)),
    )
    deepEqual(
      [...new Set(external)].filter((name) => name !== 'viem'),
      [],
    )
  }
}

/** Reading and signing a payment takes no line of viem, nor of Node. */
export async function checkBundle({ project }: Consumer): Promise<void> {
  const outfile = join(project, 'page.js')
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
  deepEqual(await pay(checkout), signature)
}

const signature = `0x${'11'.repeat(64)}1b`

/** Reads a payment and has a wallet sign it, as a page would. */
async function pay(page: typeof checkout): Promise<string> {
  const { domain, message } = samplePayment()
  const { chainId, verifyingContract: token } = domain
  const signed = await page.signPayment(
    {
      request: async ({ method }) =>
        method === 'eth_chainId' ? chainId : signature,
    },
    {
      payment: page.decodePayment(encodePayment(samplePayment())),
      expect: { chainId, token, to: message.to, amount: '12.50' },
    },
  )
  return signed.signature
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
