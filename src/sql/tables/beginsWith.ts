import { type RawBuilder, sql } from 'kysely'

/** The condition that a key begins with a text. An index of the key serves it. */
export function beginsWith(
  column: 'key' | 'name',
  prefix: string,
): RawBuilder<boolean> {
  // No key has this character, the last one in the order of bytes.
  const end = `${prefix}\u{10ffff}`
  const name = sql.ref(column)
  return sql<boolean>`${name} >= ${prefix} and ${name} < ${end}`
}
