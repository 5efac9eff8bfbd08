import { sql } from 'kysely'
import { StoreError } from '../../store/errors.js'
import { findDueByToken } from './schemaDue.js'
import { addEarly } from './schemaEarly.js'
import { addKinds } from './schemaKinds.js'
import { addNotes } from './schemaNotes.js'
import { addRefunds } from './schemaRefunds.js'
import { addShops } from './schemaShops.js'
import { addSubscriptions } from './schemaSubscriptions.js'
import { findByToken } from './schemaTokens.js'
import { version1 } from './schemaVersion1.js'
import type { Migration, SqlEngine, SqlSession } from './sqlEngine.js'

/**
 * The steps from each version of the tables to the next, in order. The first
 * creates version 1.
 */
export const migrations: readonly Migration[] = [
  version1,
  addNotes,
  addRefunds,
  addKinds,
  addSubscriptions,
  addEarly,
  findByToken,
  addShops,
  findDueByToken,
]

/**
 * Brings the tables to the newest version, in one transaction that excludes all
 * other processes.
 *
 * @throws {@link StoreError} when the tables are of a newer version than this
 * release knows.
 */
export async function migrate(
  session: SqlSession,
  engine: SqlEngine,
  steps: readonly Migration[],
): Promise<void> {
  const { types } = engine.dialect
  const isThere = await engine.lockSchema(session)
  const create = `create table migrations (version ${types.integer} primary key)`
  if (!isThere) await sql.raw(create + types.end).execute(session)
  const current = await loadVersion(session)
  if (current > steps.length) throw newerTables(current, steps)
  for (const [index, step] of steps.entries()) {
    if (index < current) continue
    for (const statement of step(types))
      await sql.raw(statement).execute(session)
    await session
      .insertInto('migrations')
      .values({ version: BigInt(index + 1) })
      .execute()
  }
}

/**
 * Checks that the tables are of the newest version, and changes nothing.
 *
 * @throws {@link StoreError} when they are of another version, or missing.
 */
export async function assertMigrated(
  session: SqlSession,
  engine: SqlEngine,
  steps: readonly Migration[],
): Promise<void> {
  if (!(await engine.hasTables(session)))
    throw new StoreError('has no tables yet: the first server creates them')
  const version = await loadVersion(session)
  if (version < steps.length)
    throw new StoreError(
      `has tables of version ${version}, and this release needs version ${steps.length}: use the release of your servers, or stop them and migrate`,
    )
  if (version > steps.length) throw newerTables(version, steps)
}

function newerTables(version: number, steps: readonly Migration[]): StoreError {
  return new StoreError(
    `has tables of version ${version}, but this release knows only ${steps.length}: use the newer release that created them`,
  )
}

async function loadVersion(session: SqlSession): Promise<number> {
  const [newest] = await session
    .selectFrom('migrations')
    .select('version')
    .orderBy('version', 'desc')
    .limit(1)
    .execute()
  return Number(newest?.version ?? 0)
}
