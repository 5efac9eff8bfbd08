import { sql } from 'kysely'
import { StoreError } from '../../store/errors.js'
import { addKinds } from './schemaKinds.js'
import { addNotes } from './schemaNotes.js'
import { addRefunds } from './schemaRefunds.js'
import { addSubscriptions } from './schemaSubscriptions.js'
import { version1 } from './schemaVersion1.js'
import type { Migration, SqlEngine, SqlSession } from './sqlEngine.js'

/** The steps of the schema. The first creates version 1. */
export const migrations: readonly Migration[] = [
  version1,
  addNotes,
  addRefunds,
  addKinds,
  addSubscriptions,
]

/**
 * Migrates the tables to the newest version, in one unit of work that excludes
 * all other processes.
 *
 * @throws {@link StoreError} when the tables are of a newer version.
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
  const [newest] = await session
    .selectFrom('migrations')
    .select('version')
    .orderBy('version', 'desc')
    .limit(1)
    .execute()
  const current = Number(newest?.version ?? 0)
  if (current > steps.length)
    throw new StoreError(
      `has tables of version ${current}, but this release knows only ${steps.length}: use the newer release that created them`,
    )
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
