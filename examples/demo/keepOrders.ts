import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { postgresStore, sqliteStore } from 'countersign/sql'
import type { PaymentStore } from 'countersign/store'
import pg from 'pg'
import { generatePrivateKey } from 'viem/accounts'

/** Where orders are kept: in a file, or in a schema of their own. */
export type Keeping =
  | { file: string }
  | { connectionString: string; schema: string }

export function openStore(keeping: Keeping): PaymentStore {
  return 'file' in keeping ? sqliteStore(keeping) : postgresStore(keeping)
}

/** Finds a place for orders that goes when they are not needed any more. */
export function keepOrders(database: string | undefined): {
  keeping: Keeping
  remove(): Promise<void>
} {
  if (database === undefined) return keepInFile()
  const schema = `countersign_demo_${generatePrivateKey().slice(2, 10)}`
  const keeping = { connectionString: database, schema }
  return { keeping, remove: () => dropSchema(keeping) }
}

function keepInFile(): ReturnType<typeof keepOrders> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-demo-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  process.once('exit', remove)
  return {
    keeping: { file: join(folder, 'orders.db') },
    remove: async () => {
      process.off('exit', remove)
      remove()
    },
  }
}

async function dropSchema({
  connectionString,
  schema,
}: Extract<Keeping, { schema: string }>): Promise<void> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    await client.query(`drop schema if exists "${schema}" cascade`)
  } finally {
    await client.end()
  }
}
