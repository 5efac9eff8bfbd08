/** As a browser bundler sees the package; viem is the caller's own. */
const bundle = (external) => (config) => ({
  ...config,
  external,
  format: 'esm',
  platform: 'browser',
  target: 'es2022',
})

const check = (name, names, limit, { external, path } = {}) => ({
  name,
  path: path ?? 'dist/index.js',
  import: names,
  limit: `${limit} B`,
  modifyEsbuildConfig: bundle(external ?? ['viem', 'viem/*']),
})

export default [
  // viem is not left out here: importing any of it at run time costs more.
  check('browser', '{ decodePayment, signPayment }', 3160, {
    external: [],
  }),
  check('checkout', '{ preparePayment, signPayment, signCancellation }', 8580),
  check('merchant', '{ verifyPayment, capturePayment, waitForOutcome }', 15420),
  check('buildPayment', '{ buildPayment }', 1735),
  check('verifyPayment', '{ verifyPayment }', 9560),
  check('capturePayment', '{ capturePayment }', 10470),
  check(
    'reads',
    '{ getLogs, getBlockReceipts, getTransactionCount, getBalance }',
    8260,
    { path: 'dist/reads.js' },
  ),
  check('everything', '*', 23060),
  check('ceiling', '*', 17000, { path: 'dist/checkout.js' }),
  check('ceilingPage', '{ checkout, decodeCheckoutPayment }', 3810, {
    path: 'dist/checkout.js',
  }),
  check('handler', '*', 17700, {
    path: 'dist/http.js',
    external: ['zod'],
  }),
  check('webhooks', '*', 7250, {
    path: 'dist/webhooks.js',
    external: ['viem', 'standardwebhooks', 'node:*'],
  }),
]
