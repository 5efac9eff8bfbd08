import { type PostgresStoreParameters, postgresStore } from 'countersign/sql'
import type { PaymentStore } from 'countersign/store'
import pg from 'pg'
import { afterAll, beforeAll } from 'vitest'
import { startDatabase, type TestDatabase } from './database.js'

export let database: TestDatabase
export let connectionString: string
export const closers: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  database = await startDatabase()
  connectionString = await database.create('shop')
})

afterAll(async () => {
  for (const close of closers) await close()
  await database.stop()
})

/** A store that is closed at the end. */
export function openStore(
  parameters: PostgresStoreParameters = { connectionString },
): PaymentStore {
  const store = postgresStore(parameters)
  closers.push(store.close)
  return store
}

export function openPool(config: pg.PoolConfig = {}): pg.Pool {
  const pool = new pg.Pool({ connectionString, ...config })
  // `end` resolves before its connections are closed: the server may end them.
  pool.on('error', () => undefined)
  closers.push(() => pool.end())
  return pool
}

export const wait = (milliseconds: number) =>
  new Promise((resolve) => setTimeout(resolve, milliseconds))
