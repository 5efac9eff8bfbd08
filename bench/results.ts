import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Row } from './compare.js'

/** A row as it is kept: with the bench that measured it, and how fresh it is. */
export type Result = Row & {
  bench: string
  /** True when the code has changed since in what the row is about. */
  stale?: boolean
}

const file = fileURLToPath(new URL('results.json', import.meta.url))

export function readResults(): Result[] {
  return JSON.parse(readFileSync(file, 'utf8'))
}

/** Replaces the file as a whole, so that an interrupted run leaves one. */
export function writeResults(results: readonly Result[]): void {
  writeFileSync(`${file}.new`, `${JSON.stringify(results, null, 2)}\n`)
  renameSync(`${file}.new`, file)
}

/**
 * Puts the rows of one bench in the place of its earlier ones, whose names may
 * differ: some hold a measured value.
 */
export function mergeRows(
  results: readonly Result[],
  bench: string,
  rows: readonly Row[],
): Result[] {
  const first = results.findIndex((result) => result.bench === bench)
  const rest = results.filter((result) => result.bench !== bench)
  const at = first < 0 ? rest.length : first
  const fresh = rows.map((row) => ({ bench, ...row }))
  return [...rest.slice(0, at), ...fresh, ...rest.slice(at)]
}

/** True for a bench that has rows, and none that is out of date. */
export function isFresh(results: readonly Result[], bench: string): boolean {
  const own = results.filter((result) => result.bench === bench)
  return own.length > 0 && own.every(({ stale }) => !stale)
}
