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
const asked = ['base', 'logs', 'reads', 'rpc']
const prepared = [...asked, 'build', 'sign']
const browser = [...prepared, 'capture', 'verify']
const lifecycle = ['draft', 'accept', 'cancel', 'orders']
const sending = ['submitters', 'sends', 'drive']
const watching = ['forks', 'reconcile', 'watch']
const kept = ['store', 'records', 'ledger']
const server = [...browser, ...kept, ...sending, ...watching, ...lifecycle]
const handler = ['schemas', 'streams', 'routes', 'http']

const rows: readonly Row[] = [
  ['index', '*', ['viem', 'viem/actions'], browser],
  ['index', '{ buildPayment }', [], message],
  ['index', '{ hashPayment }', ['viem'], ['base']],
  ['index', '{ decodePayment, signPayment }', [], [...message, 'sign']],
  [
    'index',
    '{ preparePayment, signPayment, signCancellation }',
    ['viem'],
    prepared,
  ],
  ['index', '{ verifyPayment }', ['viem'], [...asked, 'build', 'verify']],
  ['reads', '*', ['viem'], asked],
  ['reads', '{ getBalance }', ['viem'], asked],
  ['reads', '{ decodeTokenLog }', ['viem'], ['base', 'logs']],
  ['orders', '*', ['jose', 'viem'], server],
  ['http', '*', ['zod'], ['base', 'rpc', 'store', 'records', ...handler]],
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
    [...message, 'rpc', 'store', 'records', 'targets', 'webhooks'],
  ],
  ['testing', '*', ['viem'], [...message, 'rpc', 'testing']],
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
