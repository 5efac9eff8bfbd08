import { sqliteDialect } from '../sql/engines/sqliteDialect.js'
import type { SqlDialect } from '../sql/tables/sqlEngine.js'

/** SQLite within the limits of a Durable Object. */
export const durableDialect: SqlDialect = {
  ...sqliteDialect,
  // A statement has at most 100,000 characters and 5 queries in one union.
  mostNamed: 10,
  mostUnited: 5,
  // A value has at most 2,000,000 bytes.
  mostJson: 400_000,
}
