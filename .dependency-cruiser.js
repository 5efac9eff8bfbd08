/**
 * Who may import whom. A part is a folder of `src`, a room a folder inside it;
 * the files of a part beside its rooms may import all of its rooms.
 */
const parts = {
  core: [],
  chain: ['core'],
  payments: ['core', 'chain'],
  checkout: ['core', 'chain', 'payments'],
  batches: ['core', 'chain', 'payments'],
  store: ['core'],
  sql: ['core', 'store'],
  durable: ['core', 'store', 'sql'],
  orders: ['core', 'chain', 'payments', 'batches', 'store'],
  http: ['core', 'chain', 'orders', 'subscriptions', 'store'],
  webhooks: ['core', 'orders', 'store'],
  client: ['core', 'payments', 'subscriptions', 'http'],
  pages: [
    'core',
    'chain',
    'payments',
    'checkout',
    'store',
    'orders',
    'http',
    'webhooks',
    'client',
    'subscriptions',
    'x402',
  ],
  element: ['core', 'pages'],
  wagmi: ['core', 'payments', 'client'],
  accelerate: ['core'],
  otel: ['core', 'store', 'orders', 'channels'],
  x402: ['core', 'chain', 'payments', 'orders', 'channels', 'store'],
  subscriptions: ['core', 'chain', 'payments', 'orders', 'store'],
  channels: ['core', 'chain', 'payments', 'orders', 'store'],
  devchain: ['core'],
  testing: ['core', 'payments', 'store'],
  cli: [
    'core',
    'chain',
    'payments',
    'checkout',
    'store',
    'sql',
    'orders',
    'channels',
    'http',
    'webhooks',
    'accelerate',
    'x402',
    'subscriptions',
    'devchain',
    'testing',
    'client',
    'pages',
  ],
}

const rooms = {
  'chain/rpc': [],
  'chain/logs': ['chain/rpc'],
  'chain/state': ['chain/rpc', 'chain/logs'],
  'payments/message': [],
  'payments/sign': ['payments/message'],
  'payments/verify': ['payments/message', 'payments/sign'],
  'payments/capture': ['payments/message', 'payments/sign', 'payments/verify'],
  'batches/delegates': [],
  'batches/calls': ['batches/delegates'],
  'batches/keys': ['batches/delegates', 'batches/calls'],
  'sql/tables': [],
  'sql/engines': ['sql/tables'],
  'orders/model': [],
  'orders/context': ['orders/model'],
  'orders/loop': ['orders/model', 'orders/context'],
  'orders/evidence': ['orders/model', 'orders/context'],
  'orders/account': [
    'orders/model',
    'orders/context',
    'orders/loop',
    'orders/evidence',
  ],
  'orders/sending': [
    'orders/model',
    'orders/context',
    'orders/loop',
    'orders/evidence',
    'orders/account',
  ],
  'orders/nonces': [
    'orders/model',
    'orders/context',
    'orders/loop',
    'orders/evidence',
    'orders/account',
    'orders/sending',
  ],
  'orders/submitter': [
    'orders/model',
    'orders/context',
    'orders/loop',
    'orders/evidence',
    'orders/account',
    'orders/sending',
    'orders/nonces',
  ],
  'orders/watcher': [
    'orders/model',
    'orders/context',
    'orders/loop',
    'orders/evidence',
  ],
  'orders/verbs': [
    'orders/model',
    'orders/context',
    'orders/loop',
    'orders/evidence',
    'orders/account',
    'orders/sending',
    'orders/submitter',
    'orders/watcher',
  ],
  'orders/ledger': [
    'orders/model',
    'orders/context',
    'orders/loop',
    'orders/evidence',
    'orders/watcher',
    'orders/verbs',
  ],
  'http/schemas': [],
  'http/streams': ['http/schemas'],
  'http/routes': ['http/schemas', 'http/streams'],
  'client/words': [],
  'webhooks/targets': [],
  'pages/words': [],
  'pages/web': ['pages/words'],
  'pages/ui': [],
  'pages/merchant': ['pages/ui', 'pages/web'],
  'wagmi/actions': [],
  'wagmi/query': ['wagmi/actions'],
  'wagmi/hooks': ['wagmi/actions', 'wagmi/query'],
  'x402/wire': [],
  'x402/gate': ['x402/wire'],
  'x402/channel': ['x402/wire', 'x402/gate'],
  'x402/facilitator': ['x402/wire', 'x402/gate'],
  'x402/channelFacilitator': [
    'x402/wire',
    'x402/gate',
    'x402/channel',
    'x402/facilitator',
  ],
  'x402/middleware': ['x402/wire', 'x402/gate'],
  'x402/stock': [],
  'subscriptions/permission': [],
  'subscriptions/charges': ['subscriptions/permission'],
  'subscriptions/schedule': [
    'subscriptions/permission',
    'subscriptions/charges',
  ],
  'subscriptions/verbs': [
    'subscriptions/permission',
    'subscriptions/charges',
    'subscriptions/schedule',
  ],
  'channels/contract': [],
  'channels/vouchers': ['channels/contract'],
  'channels/movements': ['channels/contract'],
  'channels/record': ['channels/contract'],
  'channels/verbs': [
    'channels/contract',
    'channels/movements',
    'channels/record',
    'channels/vouchers',
  ],
  'devchain/sequencer': [],
  'devchain/emulation': ['devchain/sequencer'],
  'cli/terminal': [],
  'cli/checks': ['cli/terminal'],
  'cli/commands': ['cli/terminal', 'cli/checks'],
}

/** What `countersign/testing` publishes of `test`. */
const storeCases = '^test/storeCases/'

const isTest = String.raw`\.test(-d)?\.ts$`

const any = (paths) => `^src/(${paths.join('|')})/`

const partRules = Object.entries(parts).map(([part, allowed]) => ({
  name: `${part} imports ${allowed.join(', ') || 'no other part'}`,
  severity: 'error',
  from: { path: any([part]), pathNot: isTest },
  to: { path: '^src/', pathNot: any([part, ...allowed]) },
}))

/**
 * What other parts may import of orders: what is published, and what other
 * kinds of work need beside that.
 */
const doors = [
  '^src/orders/index.ts$',
  '^src/orders/engine.ts$',
  '^src/channels/engine.ts$',
]

/** What differs by the kind of a payment. It builds on `payments/message`. */
const kinds = '^src/payments/kind.ts$'
const kindRooms = ['payments/verify', 'payments/capture']

const roomRules = Object.entries(rooms).map(([room, allowed]) => {
  const [part] = room.split('/')
  const own = `^src/${room}/`
  const open = allowed.map((other) => any([other]))
  if (kindRooms.includes(room)) open.push(kinds)
  return {
    name: `${room} imports ${allowed.join(', ') || 'no other room'}`,
    severity: 'error',
    from: { path: own, pathNot: isTest },
    to: {
      path: any([part]),
      pathNot: [own, ...open],
    },
  }
})

export default {
  forbidden: [
    ...partRules,
    ...roomRules,
    {
      name: 'every file stands in a part, at most in a room of it',
      severity: 'error',
      from: {
        path: '^src/',
        pathNot: [
          `^src/(${Object.keys(parts).join('|')})/[^/]+$`,
          `^src/(${Object.keys(rooms).join('|')})/(contracts/)?[^/]+$`,
          `^src/(checkout|devchain)/contracts/[^/]+$`,
        ],
      },
      to: {},
    },
    {
      name: 'no file needs itself to be loaded, not even its types',
      severity: 'error',
      from: { path: '^src/', pathNot: isTest },
      to: { circular: true },
    },
    {
      name: 'only the index of a part and its engine re-export',
      severity: 'error',
      from: {
        path: '^src/',
        pathNot: ['^src/[^/]+/(index|engine).ts$', isTest],
      },
      to: { path: '^src/', dependencyTypes: ['export'] },
    },
    {
      name: 'the model asks no node',
      severity: 'error',
      from: { path: '^src/orders/model/', pathNot: isTest },
      // What differs by the kind of a payment is pure.
      to: {
        path: any(['chain', 'payments']),
        pathNot: kinds,
      },
    },
    {
      name: 'the watcher signs nothing',
      severity: 'error',
      from: { path: '^src/orders/watcher/', pathNot: isTest },
      to: { path: '^src/payments/(?:sign/|capture/sign)' },
    },
    {
      name: 'the client takes of http the types of its schemas alone',
      severity: 'error',
      from: { path: '^src/client/', pathNot: isTest },
      to: {
        path: '^src/http/',
        pathNot: '^src/http/schemas/',
      },
    },
    {
      name: 'the client runs no line of http',
      severity: 'error',
      from: { path: '^src/client/', pathNot: isTest },
      to: { path: '^src/http/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'other parts enter orders by their index or their engine',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/orders/', isTest] },
      to: { path: '^src/orders/', pathNot: doors },
    },
    {
      name: 'other parts enter channels by their index or their engine',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/channels/', isTest] },
      to: {
        path: '^src/channels/',
        // So that a gate without channels loads none of them.
        pathNot: '^src/channels/(index|engine|channelsContextOf).ts$',
      },
    },
    {
      name: 'orders do not enter by their own doors',
      severity: 'error',
      from: { path: '^src/orders/', pathNot: isTest },
      to: { path: doors },
    },
    {
      name: 'of what is in test, only the cases of a store are published',
      severity: 'error',
      from: { path: '^src/', pathNot: isTest },
      to: { path: '^test/', pathNot: storeCases },
    },
    {
      name: 'the cases of a store enter by storeCases alone',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/testing/storeCases.ts$', isTest] },
      to: { path: storeCases },
    },
    {
      name: 'the cases of a store import what testing may import',
      severity: 'error',
      from: { path: storeCases },
      to: {
        path: '^(src|test)/',
        pathNot: [storeCases, any(['testing', ...parts.testing])],
      },
    },
    {
      name: 'any other index is for users of the package',
      severity: 'error',
      from: { path: '^src/', pathNot: isTest },
      to: { path: '^src/[^/]+/index.ts$', pathNot: doors },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.src.json' },
    enhancedResolveOptions: { exportsFields: ['exports'] },
  },
}
