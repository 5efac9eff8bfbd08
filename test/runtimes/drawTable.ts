import type { CaseResult } from './suite/types.js'

/** What a runtime answered. */
export type Column = {
  name: string
  /** As it calls itself. */
  runtime?: string | undefined
  results: readonly CaseResult[]
  /** There is no such program for this platform. */
  unavailable?: boolean | undefined
}

/** Cases by runtimes, then what failed, in lines for a terminal. */
export function drawTable(columns: readonly Column[]): string[] {
  const cases = [
    ...new Set(
      columns.flatMap(({ results }) => results.map(({ name }) => name)),
    ),
  ]
  const width = Math.max(...cases.map(({ length }) => length))
  const row = (first: string, cells: readonly string[]) =>
    [
      first.padEnd(width),
      ...cells.map((cell, i) => cell.padEnd(columns[i]?.name.length ?? 0)),
    ]
      .join('  ')
      .trimEnd()
  const cell = ({ results }: Column, name: string) => {
    const result = results.find((one) => one.name === name)
    if (!result) return '-'
    return result.problem ? 'FAIL' : 'ok'
  }
  const problems = columns.flatMap(({ name: column, results }) =>
    results.flatMap(({ name, problem }) =>
      problem ? [`${column}: ${name}: ${problem}`] : [],
    ),
  )
  return [
    row(
      '',
      columns.map(({ name }) => name),
    ),
    ...cases.map((name) =>
      row(
        name,
        columns.map((column) => cell(column, name)),
      ),
    ),
    '',
    ...problems,
  ]
}
