import { join } from 'node:path'
import process from 'node:process'
import type { CreateOrdersParameters } from 'countersign/orders'
import { createReadClient } from 'countersign/reads'
import { postgresStore, sqliteStore } from 'countersign/sql'
import { sealer } from 'countersign/store'
import { createClient, http } from 'viem'
import { needSecret, readSecret } from './readSecret.js'
import { account, chain, nodeUrl, token } from './settings.js'

/** Without PostgreSQL, the processes of one machine share a file. */
function openStore() {
  const connectionString = readSecret('database-url')
  const { STATE_DIRECTORY: folder = '.' } = process.env
  return connectionString
    ? postgresStore({ connectionString, listen: connectionString })
    : sqliteStore({ file: join(folder, 'orders.db') })
}

/** The shop's orders, as all of its processes and the command line open them. */
export default {
  store: openStore(),
  seal: sealer({
    keys: { first: Buffer.from(needSecret('sealing-key'), 'hex') },
    current: 'first',
  }),
  tokens: [{ client: createReadClient({ url: nodeUrl, chain }), token }],
  wallets: [
    createClient({ account, chain, transport: http(nodeUrl, { batch: true }) }),
  ],
  policy: { capture: 'onAccept' },
  observe: ({ name, attributes: { words, error } }) => {
    if (name.endsWith('.failed'))
      console.warn(`${name}, trying again: ${words || error}`)
  },
} satisfies CreateOrdersParameters
