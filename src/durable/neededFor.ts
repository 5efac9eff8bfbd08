import type { Statement } from './runStatement.js'

/**
 * Returns those of the earlier statements on whose effect a statement depends,
 * in their order: those that write to a table that it names, and in turn those
 * on which these depend.
 */
export function neededFor(
  { text }: Statement,
  earlier: readonly Statement[],
): readonly Statement[] {
  const needed: Statement[] = []
  let named = text
  for (const statement of [...earlier].reverse()) {
    const table = writtenTable(statement.text)
    if (!isNamed(table, named)) continue
    needed.unshift(statement)
    named += ` ${statement.text}`
  }
  return needed
}

const written =
  /^\s*(?:insert into|update|delete from|create table(?: if not exists)?|create (?:unique )?index \w+ on)\s+"?(\w+)"?/i

export function writesTo(text: string): boolean {
  return !/^\s*(?:select|with)\b/i.test(text)
}

/** Absent if the statement is of another kind. */
function writtenTable(text: string): string | undefined {
  return written.exec(text)?.[1]
}

function isNamed(table: string | undefined, text: string): boolean {
  if (table === undefined || text.includes('sqlite_schema')) return true
  return new RegExp(`\\b${table}\\b`).test(text)
}
