import { sql } from 'kysely'
import type { SqlEngine } from '../../../src/sql/tables/sqlEngine.js'

/** Lets an SQLite file grow by this many pages, and no more. */
export async function limitRoom(
  engine: SqlEngine,
  pages: number,
): Promise<void> {
  await engine.connect('write', async (session) => {
    const asked = sql<{ page_count: bigint }>`pragma page_count`
    const [row] = (await asked.execute(session)).rows
    const most = Number(row?.page_count) + pages
    await sql.raw(`pragma max_page_count = ${most}`).execute(session)
  })
}
