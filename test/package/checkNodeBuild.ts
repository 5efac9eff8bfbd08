import { deepEqual, match } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { encodePayment, hashPayment, paymentTypedData } from 'countersign'
import { samplePayment } from 'countersign/testing'
import { type BuildOptions, build } from 'esbuild'
import { privateKeyToAccount } from 'viem/accounts'
import {
  entryFiles,
  importPathOf,
  nodeFileOf,
  plainFileOf,
} from '../../scripts/entryFiles.js'
import { runModule } from './checkEntries.js'
import type { Consumer } from './installPackage.js'

/** Pages, workers and bundlers, for a server too, take viem from the user. */
const bundlers: readonly BuildOptions[] = [
  { platform: 'browser' },
  { platform: 'node' },
  { platform: 'neutral' },
  { conditions: ['workerd', 'worker'] },
  { conditions: ['edge-light', 'node'] },
  { conditions: ['browser', 'node'] },
]

/**
 * Node alone gets the build with parts of viem inside, and whoever starts a
 * development chain, which only Node can.
 */
export async function checkConditions({ project }: Consumer): Promise<void> {
  for (const entry of Object.keys(entryFiles)) {
    const path = importPathOf(entry)
    const program = `console.log(import.meta.resolve('${path}'))`
    match(runModule(project, program), new RegExp(`/${nodeFileOf(entry)}\\s*$`))
    for (const options of bundlers)
      deepEqual(await entriesBundled(project, path, options), [
        `node_modules/countersign/${plainFileOf(entry)}`,
      ])
  }
}

/** The files of the package that a bundler takes for an import. */
async function entriesBundled(
  project: string,
  path: string,
  options: BuildOptions,
): Promise<string[]> {
  const { metafile } = await build({
    ...options,
    stdin: {
      contents: `export * from '${path}'`,
      resolveDir: project,
    },
    absWorkingDir: project,
    bundle: true,
    write: false,
    metafile: true,
    format: 'esm',
    logLevel: 'error',
    plugins: [
      {
        name: 'leave all but entries out',
        setup: ({ onResolve }) => {
          onResolve({ filter: /./ }, ({ path, importer }) =>
            importer.includes('countersign') ? { path, external: true } : null,
          )
        },
      },
    ],
  })
  return Object.keys(metafile.inputs).filter((file) => file !== '<stdin>')
}

const payer = privateKeyToAccount(`0x${'11'.repeat(32)}`)

/** The entries that a server imports, which have to load fast. */
const fastEntries = [
  'countersign',
  'countersign/reads',
  'countersign/orders',
  'countersign/store',
  'countersign/sql',
  'countersign/durable',
  'countersign/http',
  'countersign/webhooks',
  'countersign/x402',
  'countersign/accelerate',
]

/** Run where no peer is installed, so no file of one can be read. */
export async function checkWithoutPeers({ project }: Consumer): Promise<void> {
  const payment = samplePayment({ from: payer.address })
  const signature = await payer.signTypedData(paymentTypedData(payment))
  const text = encodePayment({ ...payment, signature })
  const imports = fastEntries.map((path) => `await import('${path}')`)
  const program = `
    ${imports.join('\n')}
    const { explainSignature, hashPayment, decodePayment } = await import('countersign')
    const payment = decodePayment(${JSON.stringify(text)})
    const { found } = await explainSignature({ payment })
    const { signature: _, ...unsigned } = payment
    console.log(JSON.stringify({ found, digest: hashPayment(unsigned) }))
  `
  deepEqual(JSON.parse(runModule(project, program)), {
    found: true,
    digest: hashPayment(payment),
  })
}

/** The notice names each package of which a part is inside, with its licence. */
export function checkNotice({ installed }: Consumer): void {
  const notice = readFileSync(join(installed, 'dist/node/NOTICE.txt'), 'utf8')
  const named = [...notice.matchAll(/^(\S+) \d+\.\d+\.\d+$/gm)]
  deepEqual(named.map(([, name]) => name).sort(), [
    '@noble/curves',
    '@noble/hashes',
    'abitype',
    'eventsource-parser',
    'react',
    'react-dom',
    'scheduler',
    'viem',
    'zod',
  ])
  const licences = notice.match(/Permission is hereby granted, free of charge/g)
  deepEqual(licences?.length, named.length)
}
