import type { CompiledQuery } from 'kysely'
import { bytesToHex } from 'viem'
import { isBytes } from '../core/isBytes.js'
import { classifyDatabaseFailure } from '../sql/engines/classifyDatabaseFailure.js'
import { SqlFault } from '../sql/tables/sqlFault.js'
import { durableDialect } from './durableDialect.js'
import type { DurableStorage } from './durableStorage.js'

type Binding = string | number | Uint8Array | null

/** A statement that has the same effect whenever it runs on the same rows. */
export type Statement = {
  readonly text: string
  readonly bindings: readonly Binding[]
}

/** What a statement found or wrote. */
export type Found = {
  readonly rows: Record<string, unknown>[]
  /** Rows of tables and indexes that it wrote. */
  readonly rowsWritten: number
}

/** Most parameters of one statement. */
const mostBindings = 100

/**
 * Makes a statement of a query. Replaces the database's clock by the time, so
 * that the statement can run again later with the same effect.
 */
export function toStatement({
  sql: query,
  parameters,
}: Pick<CompiledQuery, 'sql' | 'parameters'>): Statement {
  const text = query.replaceAll(durableDialect.clock, `${Date.now()}`)
  const bindings = parameters.map(toBinding)
  return bindings.length > mostBindings
    ? packBindings(text, bindings)
    : { text, bindings }
}

function toBinding(value: unknown): Binding {
  // SQLite turns the text into an integer where it compares or stores it.
  if (typeof value === 'bigint')
    return Number.isSafeInteger(Number(value)) ? Number(value) : `${value}`
  if (value === null || isBytes(value)) return value
  if (typeof value === 'string' || Number.isSafeInteger(value))
    return value as string | number
  throw new SqlFault('refused', 'SQLITE_MISMATCH')
}

/** Passes all parameters as one, because there are too many. */
function packBindings(text: string, bindings: readonly Binding[]): Statement {
  let next = 0
  const place = (found: string) => {
    if (found !== '?') return found
    const at = next++
    return isBytes(bindings[at]) ? `unhex(?1 ->> ${at})` : `(?1 ->> ${at})`
  }
  const values = bindings.map((binding) =>
    isBytes(binding) ? bytesToHex(binding).slice(2) : binding,
  )
  return {
    // Skips quoted texts and names.
    text: text.replace(/'[^']*'|"[^"]*"|\?/g, place),
    bindings: [JSON.stringify(values)],
  }
}

/** @throws {@link SqlFault} when the database refuses the statement. */
export function runStatement(
  { sql }: DurableStorage,
  { text, bindings }: Statement,
): Found {
  try {
    const cursor = sql.exec(text, ...bindings)
    const rows = cursor.toArray()
    const inexact = cursor.columnNames.filter((name) =>
      rows.some(({ [name]: cell }) => isInexact(cell)),
    )
    const { rowsWritten } = cursor
    if (inexact.length === 0) return { rows, rowsWritten }
    const columns = cursor.columnNames.map((name) =>
      inexact.includes(name) ? `cast("${name}" as text) as "${name}"` : name,
    )
    const exact = `select ${columns.join(', ')} from (${text})`
    return { rows: sql.exec(exact, ...bindings).toArray(), rowsWritten }
  } catch (error) {
    throw faultOf(error)
  }
}

/** Integers come as numbers, which are not exact beyond 2^53. */
function isInexact(cell: unknown): boolean {
  return typeof cell === 'number' && !Number.isSafeInteger(cell)
}

function faultOf(error: unknown): SqlFault {
  const words = String(Object(error).message)
  const [code] = words.match(/SQLITE_\w+(?=\)?$)/) ?? []
  const kind = classifyDatabaseFailure({
    code: code ?? 'no code',
    words,
    isOfDatabase: code !== undefined,
    during: 'statement',
  })
  return new SqlFault(kind, code ?? 'no code')
}
