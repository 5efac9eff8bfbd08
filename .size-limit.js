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
  check('browser', '{ decodePayment, signPayment }', 3125, {
    external: [],
  }),
  check('checkout', '{ preparePayment, signPayment, signCancellation }', 9520),
  check('merchant', '{ verifyPayment, capturePayment, waitForOutcome }', 17020),
  check('buildPayment', '{ buildPayment }', 1735),
  check('verifyPayment', '{ verifyPayment }', 10480),
  check('capturePayment', '{ capturePayment }', 11520),
  check(
    'reads',
    '{ getLogs, getBlockReceipts, getTransactionCount, getBalance }',
    9730,
    { path: 'dist/reads.js' },
  ),
  check('everything', '*', 24960),
  check('ceiling', '*', 17220, { path: 'dist/checkout.js' }),
  check('ceilingPage', '{ checkout, decodeCheckoutPayment }', 3810, {
    path: 'dist/checkout.js',
  }),
  check('handler', '*', 20630, {
    path: 'dist/http.js',
    external: ['zod'],
  }),
  // The whole client of a buyer, viem not left out.
  check('buyerClient', '{ createBuyerClient }', 5970, {
    path: 'dist/client.js',
    external: [],
  }),
  check('merchantClient', '{ createMerchantClient }', 4390, {
    path: 'dist/client.js',
    external: [],
  }),
  check('webhooks', '*', 8390, {
    path: 'dist/webhooks.js',
    external: ['viem', 'standardwebhooks', 'node:*'],
  }),
]
