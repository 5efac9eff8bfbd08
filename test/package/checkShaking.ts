import { deepEqual } from 'node:assert/strict'
import { bundleNames } from './bundleNames.js'

type Row = readonly [
  entry: string,
  /** As in an import: what a bundle is made of. */
  names: string,
  /** All that the bundle imports from elsewhere. */
  imports: readonly string[],
  /** All parts and rooms that it has lines of. */
  folders: readonly string[],
]

const message = ['core', 'payments/message']
const asked = ['chain/logs', 'chain/rpc', 'chain/state', 'core']
const prepared = [...asked, 'payments/message', 'payments/sign']
const browser = [...prepared, 'payments', 'payments/capture', 'payments/verify']
const server = [
  ...browser,
  'batches/calls',
  'batches/delegates',
  'batches/keys',
  'store',
  'orders',
  'orders/account',
  'orders/evidence',
  'orders/ledger',
  'orders/loop',
  'orders/model',
  'orders/nonces',
  'orders/sending',
  'orders/submitter',
  'orders/verbs',
  'orders/watcher',
]
const handler = ['http', 'http/routes', 'http/schemas', 'http/streams']

const rows: readonly Row[] = [
  ['index', '*', ['viem', 'viem/actions'], browser],
  ['index', '{ buildPayment }', [], message],
  ['index', '{ hashPayment }', ['viem'], ['core']],
  [
    'index',
    '{ decodePayment, signPayment }',
    [],
    [...message, 'payments/sign'],
  ],
  [
    'index',
    '{ preparePayment, signPayment, signCancellation }',
    ['viem'],
    prepared.filter((room) => room !== 'chain/logs'),
  ],
  [
    'index',
    '{ verifyPayment }',
    ['viem'],
    [...asked, 'payments', 'payments/message', 'payments/verify'],
  ],
  ['reads', '*', ['viem'], asked],
  ['reads', '{ getBalance }', ['viem'], asked],
  ['reads', '{ decodeTokenLog }', ['viem'], ['chain/logs', 'core']],
  [
    'checkout',
    '*',
    ['viem'],
    [...asked, 'checkout', 'payments/message', 'payments/sign'],
  ],
  [
    'batches',
    '*',
    ['viem', 'viem/actions'],
    [
      ...asked,
      'batches',
      'batches/calls',
      'batches/delegates',
      'batches/keys',
      'payments/capture',
      'payments/sign',
    ],
  ],
  ['batches', '{ batchCall }', ['viem'], ['batches/calls', 'core']],
  ['orders', '*', ['viem'], server],
  [
    'store',
    '*',
    ['@noble/ciphers/chacha.js', '@noble/ciphers/utils.js'],
    ['core', 'store'],
  ],
  [
    'http',
    '*',
    ['zod'],
    [
      'chain/rpc',
      'core',
      'orders',
      'orders/ledger',
      'orders/model',
      'store',
      'subscriptions/verbs',
      ...handler,
    ],
  ],
  [
    'client',
    '{ createBuyerClient }',
    ['eventsource-parser'],
    ['client', ...message, 'payments/sign'],
  ],
  [
    'client',
    '{ createMerchantClient }',
    ['eventsource-parser'],
    ['client', 'core'],
  ],
  [
    'pages',
    '*',
    // The routes of the merchant's pages are loaded at their first request.
    ['viem', 'zod'],
    [
      'chain/rpc',
      'chain/state',
      'core',
      'orders',
      'orders/ledger',
      'orders/model',
      'pages',
      'pages/web',
      'pages/words',
      'store',
      'subscriptions/verbs',
      'webhooks',
      'webhooks/targets',
      'x402/wire',
      ...handler,
    ],
  ],
  [
    'element',
    '*',
    ['eventsource-parser', 'viem'],
    [
      'client',
      ...message,
      'checkout',
      'element',
      'pages',
      'pages/web',
      'pages/words',
      'payments/sign',
    ],
  ],
  [
    'wagmi',
    '*',
    ['@tanstack/react-query', '@wagmi/core', 'eventsource-parser', 'wagmi'],
    [
      'client',
      ...message,
      'payments/sign',
      'wagmi/actions',
      'wagmi/hooks',
      'wagmi/query',
    ],
  ],
  // A project without React loads none.
  [
    'wagmi',
    '{ getOrder, signPayment }',
    ['@wagmi/core', 'eventsource-parser'],
    ['client', ...message, 'payments/sign', 'wagmi/actions'],
  ],
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
    ['core', 'store', 'webhooks', 'webhooks/targets'],
  ],
  // Of orders and channels it has types only.
  ['otel', '*', ['@opentelemetry/api'], ['core', 'otel']],
  // A worker has no module of Node, and neither libsql nor pg.
  [
    'durable',
    '*',
    ['kysely', 'viem'],
    ['core', 'durable', 'sql', 'sql/engines', 'sql/tables', 'store'],
  ],
  [
    'accelerate',
    '*',
    ['ox/wasm/Hash', 'ox/wasm/Secp256k1', 'viem', 'viem/utils'],
    ['accelerate', 'core'],
  ],
  [
    'x402',
    '*',
    ['viem', 'viem/accounts'],
    [
      ...asked,
      'batches/keys',
      'channels',
      'channels/contract',
      'channels/movements',
      'channels/record',
      'channels/verbs',
      'channels/vouchers',
      'orders',
      'orders/account',
      'orders/evidence',
      'orders/model',
      'orders/sending',
      'orders/submitter',
      'orders/verbs',
      'orders/watcher',
      'payments',
      'payments/capture',
      'payments/message',
      'payments/verify',
      'store',
      'x402',
      'x402/channel',
      'x402/channelFacilitator',
      'x402/facilitator',
      'x402/gate',
      'x402/middleware',
      'x402/stock',
      'x402/wire',
    ],
  ],
  [
    'subscriptions',
    '*',
    ['viem'],
    [
      ...asked,
      'batches/keys',
      'orders',
      'orders/account',
      'orders/sending',
      'orders/evidence',
      'orders/loop',
      'orders/model',
      'orders/submitter',
      'orders/verbs',
      'orders/watcher',
      'payments',
      'payments/message',
      'payments/sign',
      'payments/verify',
      'store',
      'subscriptions',
      'subscriptions/charges',
      'subscriptions/permission',
      'subscriptions/schedule',
      'subscriptions/verbs',
    ],
  ],
  [
    'channels',
    '*',
    ['viem', 'viem/accounts'],
    [
      ...asked,
      'channels',
      'channels/contract',
      'channels/movements',
      'channels/record',
      'channels/verbs',
      'channels/vouchers',
      'orders',
      'orders/account',
      'orders/evidence',
      'orders/loop',
      'orders/model',
      'orders/sending',
      'orders/submitter',
      'orders/verbs',
      'orders/watcher',
      'payments',
      'payments/message',
      'payments/sign',
      'payments/verify',
      'store',
    ],
  ],
  [
    'channels',
    '{ checkVoucher, hashChannelConfig }',
    ['viem'],
    ['channels/contract', 'channels/vouchers', 'core'],
  ],
  ['testing', '*', ['viem'], ['core', 'testing']],
]

/**
 * A bundle holds what its import needs and nothing else: pages get no line of
 * a server's, and no entry that runs anywhere gets one of Node or of SQL.
 */
export async function checkShaking(): Promise<void> {
  for (const [entry, names, imports, folders] of rows) {
    const bundle = await bundleNames(entry, names)
    deepEqual(
      { entry, names, imports: bundle.imports, folders: bundle.folders },
      { entry, names, imports, folders: [...folders].sort() },
    )
  }
}
