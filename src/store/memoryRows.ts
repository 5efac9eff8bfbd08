import type { StagedTable } from './memoryTable.js'

export type Rows<row> = Omit<StagedTable<row>, 'staged' | 'removed'>

/**
 * Sorts rows in place by the values that `place` returns, lowest first. The
 * first value that differs decides.
 */
export function sortRows<row>(
  rows: row[],
  place: (row: row) => bigint[],
): row[] {
  return rows.sort((left, right) => {
    const there = place(right)
    for (const [at, here] of place(left).entries()) {
      const other = there[at] ?? here
      if (here !== other) return here < other ? -1 : 1
    }
    return 0
  })
}
