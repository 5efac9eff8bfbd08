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
  check('browser', '{ decodePayment, signPayment }', 3225, {
    external: [],
  }),
  check('checkout', '{ preparePayment, signPayment, signCancellation }', 9720),
  check('merchant', '{ verifyPayment, capturePayment, waitForOutcome }', 18280),
  check('buildPayment', '{ buildPayment }', 1780),
  check('verifyPayment', '{ verifyPayment }', 10615),
  check('capturePayment', '{ capturePayment }', 12255),
  check(
    'reads',
    '{ getLogs, getBlockReceipts, getTransactionCount, getBalance }',
    10570,
    { path: 'dist/reads.js' },
  ),
  check('everything', '*', 26195),
  check('ceiling', '*', 17385, { path: 'dist/checkout.js' }),
  check('ceilingPage', '{ checkout, decodeCheckoutPayment }', 3870, {
    path: 'dist/checkout.js',
  }),
  check('handler', '*', 20735, {
    path: 'dist/http.js',
    external: ['zod'],
  }),
  // The whole client of a buyer, viem not left out.
  check('buyerClient', '{ createBuyerClient }', 6075, {
    path: 'dist/client.js',
    external: [],
  }),
  check('merchantClient', '{ createMerchantClient }', 4410, {
    path: 'dist/client.js',
    external: [],
  }),
  check('webhooks', '*', 8785, {
    path: 'dist/webhooks.js',
    external: ['viem', 'standardwebhooks', 'node:*'],
  }),
]
