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
  check('browser', '{ decodePayment, signPayment }', 3820, {
    external: [],
  }),
  check('checkout', '{ preparePayment, signPayment, signCancellation }', 10290),
  check('merchant', '{ verifyPayment, capturePayment, waitForOutcome }', 18600),
  check('buildPayment', '{ buildPayment }', 1840),
  check('verifyPayment', '{ verifyPayment }', 10970),
  check('capturePayment', '{ capturePayment }', 12560),
  check(
    'reads',
    '{ getLogs, getBlockReceipts, getTransactionCount, getBalance }',
    10670,
    { path: 'dist/reads.js' },
  ),
  check('everything', '*', 27100),
  check('ceiling', '*', 18060, { path: 'dist/checkout.js' }),
  check('ceilingPage', '{ checkout, decodeCheckoutPayment }', 3930, {
    path: 'dist/checkout.js',
  }),
  check('batches', '*', 17400, { path: 'dist/batches.js' }),
  check('batchCall', '{ batchCall }', 1140, { path: 'dist/batches.js' }),
  check('handler', '*', 22150, {
    path: 'dist/http.js',
    external: ['zod'],
  }),
  // The whole client of a buyer, viem not left out.
  check('buyerClient', '{ createBuyerClient }', 7110, {
    path: 'dist/client.js',
    external: [],
  }),
  check('merchantClient', '{ createMerchantClient }', 5125, {
    path: 'dist/client.js',
    external: [],
  }),
  // The whole program of the payment page, with viem, and with what only
  // payments with a ceiling load, which is a third.
  check('element', '*', 31520, {
    path: 'dist/element.js',
    external: [],
  }),
  check('webhooks', '*', 10600, {
    path: 'dist/webhooks.js',
    external: ['viem', 'standardwebhooks', 'node:*'],
  }),
  check('otel', '*', 4180, {
    path: 'dist/otel.js',
    external: ['@opentelemetry/api'],
  }),
]
