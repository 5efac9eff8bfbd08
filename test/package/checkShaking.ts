import { deepEqual } from 'node:assert/strict'
import { bundleNames } from './bundleNames.js'
import type { Consumer } from './installPackage.js'

type Row = readonly [
  entry: string,
  /** As in an import: what a bundle is made of. */
  names: string,
  /** All that the bundle imports from elsewhere. */
  imports: readonly string[],
  /** All folders of sources that it has lines of. */
  folders: readonly string[],
]

const message = ['base', 'build']
const browser = [...message, 'capture', 'reads', 'sign', 'verify']
const server = [...browser, 'lanes', 'ledger', 'orders', 'store', 'watch']

const rows: readonly Row[] = [
  ['index', '*', ['viem', 'viem/actions'], browser],
  ['index', '{ buildPayment }', [], message],
  ['index', '{ hashPayment }', ['viem'], ['base']],
  ['index', '{ decodePayment, signPayment }', [], [...message, 'sign']],
  [
    'index',
    '{ preparePayment, signPayment, signCancellation }',
    ['viem'],
    [...message, 'reads', 'sign'],
  ],
  ['index', '{ verifyPayment }', ['viem'], [...message, 'reads', 'verify']],
  ['reads', '*', ['viem'], ['base', 'reads']],
  ['reads', '{ getBalance }', ['viem'], ['base', 'reads']],
  ['reads', '{ decodeTokenLog }', ['viem'], ['base', 'reads']],
  ['orders', '*', ['jose', 'viem'], server],
  ['http', '*', ['zod'], ['base', 'http', 'ledger', 'reads', 'store']],
  [
    'webhooks',
    '*',
    [
      'node:crypto',
      'node:dns/promises',
      'node:https',
      'node:net',
      'node:tls',
      'standardwebhooks',
      'viem',
    ],
    [...message, 'ledger', 'reads', 'store', 'webhooks'],
  ],
  ['testing', '*', ['viem'], [...message, 'reads', 'testing']],
]

/**
 * A bundle holds what its import needs and nothing else: pages get no line of
 * a server's, and no entry that runs anywhere gets one of Node or of SQL.
 */
export async function checkShaking({ installed }: Consumer): Promise<void> {
  for (const [entry, names, imports, folders] of rows) {
    const bundle = await bundleNames(installed, entry, names)
    deepEqual(
      { entry, names, imports: bundle.imports, folders: bundle.folders },
      { entry, names, imports, folders: [...folders].sort() },
    )
  }
}
