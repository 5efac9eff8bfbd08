import { sql } from 'kysely'
import type { SqlSession } from '../tables/sqlEngine.js'

export async function hasSqliteTable(
  session: SqlSession,
  table: string,
): Promise<boolean> {
  const asked = sql`select 1 from sqlite_schema where name = ${table}`
  return (await asked.execute(session)).rows.length > 0
}
