/** The source of each import path; `index` stands for `countersign` itself. */
export const entryFiles = {
  index: 'src/payments/index.ts',
  reads: 'src/chain/index.ts',
  checkout: 'src/checkout/index.ts',
  batches: 'src/batches/index.ts',
  orders: 'src/orders/index.ts',
  store: 'src/store/index.ts',
  sql: 'src/sql/index.ts',
  http: 'src/http/index.ts',
  client: 'src/client/index.ts',
  pages: 'src/pages/index.ts',
  element: 'src/element/index.ts',
  wagmi: 'src/wagmi/index.ts',
  webhooks: 'src/webhooks/index.ts',
  accelerate: 'src/accelerate/index.ts',
  x402: 'src/x402/index.ts',
  subscriptions: 'src/subscriptions/index.ts',
  devchain: 'src/devchain/index.ts',
  testing: 'src/testing/index.ts',
}

/**
 * The same for the entries that are built for Node once more. Servers import the
 * element to render pages, and do nothing with it.
 */
export const nodeEntryFiles: Readonly<Record<string, string>> =
  Object.fromEntries(
    Object.entries(entryFiles).filter(([entry]) => entry !== 'element'),
  )

/** The source of the command line. It is built for Node only. */
export const commandFile = 'src/cli/bin.ts'

/** What a program imports to get an entry. */
export function importPathOf(entry: string): string {
  return entry === 'index' ? 'countersign' : `countersign/${entry}`
}

/** The file of the package that Node gets for an entry. */
export function nodeFileOf(entry: string): string {
  return `dist/${entry in nodeEntryFiles ? 'node/' : ''}${entry}.js`
}
