import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { postgresStore, sqliteStore } from 'countersign/sql'
import { storeCases } from 'countersign/testing'
import { afterAll, beforeAll, test } from 'vitest'
import { startDatabase, type TestDatabase } from '../support/database.js'

const folder = mkdtempSync(join(tmpdir(), 'countersign-sqlite-'))
let database: TestDatabase
let connectionString: string

beforeAll(async () => {
  database = await startDatabase()
  connectionString = await database.create('cases')
})

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await database.stop()
})

test.each(storeCases)('in SQLite, $name', ({ run }) =>
  run(() => sqliteStore({ file: join(folder, 'cases.db') })),
)

test.each(storeCases)('in PostgreSQL, $name', ({ run }) =>
  run(() => postgresStore({ connectionString, listen: connectionString })),
)
