import { sql } from 'kysely'
import { StoreError } from '../../store/errors.js'
import { archiveSchema } from './archiveSchema.js'
import { channelSchema } from './channelSchema.js'
import { schema } from './schema.js'
import type { Migration, SqlEngine, SqlSession } from './sqlEngine.js'
import { SqlLoss } from './sqlLoss.js'

/**
 * The steps from each version of the tables to the next, in order. The first
 * creates version 1.
 */
export const migrations: readonly Migration[] = [
  schema,
  channelSchema,
  archiveSchema,
]

/**
 * Brings the tables to the newest version, in one transaction that excludes all
 * other processes.
 *
 * @throws {@link StoreError} when the tables are of a newer version than this
 * release knows, or were made before the first release.
 */
export async function migrate(
  session: SqlSession,
  engine: SqlEngine,
  steps: readonly Migration[],
): Promise<void> {
  const { types } = engine.dialect
  await engine.lockSchema(session)
  const create = `create table versions (version ${types.integer} primary key)`
  if (!(await hasTables(session, engine)))
    await sql.raw(create + types.end).execute(session)
  const current = await loadVersion(session)
  assertKnown(current, steps.length)
  if (current < steps.length) await engine.lockVersions(session)
  for (const [index, step] of steps.entries()) {
    if (index < current) continue
    for (const statement of step(types))
      await sql.raw(statement).execute(session)
    await session
      .insertInto('versions')
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
  if (!(await hasTables(session, engine)))
    throw new StoreError('has no tables yet: the first server creates them')
  const version = await loadVersion(session)
  if (version < steps.length)
    throw new StoreError(
      `has tables of version ${version}, and this release needs version ${steps.length}: use the release of your servers, or stop them and migrate`,
    )
  assertKnown(version, steps.length)
}

/** Before the first release, the versions stood in a table `migrations`. */
async function hasTables(
  session: SqlSession,
  engine: SqlEngine,
): Promise<boolean> {
  if (await engine.hasTable(session, 'migrations'))
    throw new StoreError(
      'has tables from before the first release, with a table migrations: use a new database',
    )
  return engine.hasTable(session, 'versions')
}

/**
 * @param known the newest version that this release knows.
 * @throws {@link StoreError} when the tables are of a newer version.
 */
export function assertKnown(version: number, known: number): void {
  if (version > known)
    throw new SqlLoss(
      `has tables of version ${version}, but this release knows only ${known}: use the newer release that created them`,
    )
}

/** Returns the version of the tables; 0 if they have none yet. */
export async function loadVersion(session: SqlSession): Promise<number> {
  const [newest] = await session
    .selectFrom('versions')
    .select('version')
    .orderBy('version', 'desc')
    .limit(1)
    .execute()
  return Number(newest?.version ?? 0)
}
