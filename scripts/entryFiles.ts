/** The source of each import path; `index` stands for `countersign` itself. */
export const entryFiles = {
  index: 'src/payments/index.ts',
  reads: 'src/chain/index.ts',
  checkout: 'src/checkout/index.ts',
  batches: 'src/batches/index.ts',
  orders: 'src/orders/index.ts',
  store: 'src/store/index.ts',
  sql: 'src/sql/index.ts',
  durable: 'src/durable/index.ts',
  http: 'src/http/index.ts',
  client: 'src/client/index.ts',
  pages: 'src/pages/index.ts',
  element: 'src/element/index.ts',
  wagmi: 'src/wagmi/index.ts',
  otel: 'src/otel/index.ts',
  webhooks: 'src/webhooks/index.ts',
  accelerate: 'src/accelerate/index.ts',
  x402: 'src/x402/index.ts',
  subscriptions: 'src/subscriptions/index.ts',
  channels: 'src/channels/index.ts',
  devchain: 'src/devchain/index.ts',
  testing: 'src/testing/index.ts',
}

const without = (left: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(entryFiles).filter(([entry]) => entry !== left),
  )

/** The entries of the plain build. Only Node can start a development chain. */
export const plainEntryFiles = without('devchain')

/**
 * The entries of the build for Node. Servers import the element to render pages,
 * and do nothing with it.
 */
export const nodeEntryFiles = without('element')

/** The source of the command line. It is built for Node only. */
export const commandFile = 'src/cli/bin.ts'

/** What a program imports to get an entry. */
export function importPathOf(entry: string): string {
  return entry === 'index' ? 'countersign' : `countersign/${entry}`
}

/** The file of the package that bundlers and other runtimes get for an entry. */
export function plainFileOf(entry: string): string {
  return `dist/${entry in plainEntryFiles ? '' : 'node/'}${entry}.js`
}

/** The file of the package that Node gets for an entry. */
export function nodeFileOf(entry: string): string {
  return `dist/${entry in nodeEntryFiles ? 'node/' : ''}${entry}.js`
}
