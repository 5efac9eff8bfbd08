import { type RawBuilder, sql } from 'kysely'

/**
 * SQL condition: the column begins with this text. Written as a range, so that
 * an index of the column serves it.
 */
export function beginsWith(
  column: 'key' | 'name',
  prefix: string,
): RawBuilder<boolean> {
  // The last character in the order of bytes, which no key contains.
  const end = `${prefix}\u{10ffff}`
  const name = sql.ref(column)
  return sql<boolean>`${name} >= ${prefix} and ${name} < ${end}`
}
