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
  check('browser', '{ decodePayment, signPayment }', 2690, {
    external: [],
  }),
  check('checkout', '{ preparePayment, signPayment, signCancellation }', 7260),
  check('merchant', '{ verifyPayment, capturePayment, waitForOutcome }', 13870),
  check('buildPayment', '{ buildPayment }', 1550),
  check('verifyPayment', '{ verifyPayment }', 8390),
  check('capturePayment', '{ capturePayment }', 9020),
  check(
    'reads',
    '{ getLogs, getBlockReceipts, getTransactionCount, getBalance }',
    7680,
    { path: 'dist/reads.js' },
  ),
  check('everything', '*', 18630),
  check('handler', '*', 12770, {
    path: 'dist/http.js',
    external: ['zod'],
  }),
  check('webhooks', '*', 7140, {
    path: 'dist/webhooks.js',
    external: ['viem', 'standardwebhooks', 'node:*'],
  }),
]
