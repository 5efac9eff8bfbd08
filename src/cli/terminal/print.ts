import { toJson } from '../../core/toJson.js'
import { hideSecrets } from './hideSecrets.js'
import type { CliIo } from './types.js'

/** Writes lines, tables and JSON to standard output. */
export type Printer = {
  line(text?: string): void
  /** Writes rows in aligned columns. The first row is the header. */
  table(rows: readonly (readonly string[])[]): void
  /** Writes a value as one line of JSON, each `bigint` as a decimal string. */
  json(value: unknown): void
  good(text: string): string
  warn(text: string): string
  bad(text: string): string
  faint(text: string): string
}

export function createPrinter(io: CliIo): Printer {
  const isColored = io.isTerminal && !io.env.NO_COLOR
  const paint = (code: number) => (text: string) =>
    isColored ? `\u001b[${code}m${text}\u001b[0m` : text
  const line = (text = '') => {
    io.stdout.write(`${hideSecrets(text)}\n`)
  }
  return {
    line,
    table: (rows) => {
      const widths = rows.reduce<number[]>(
        (most, row) =>
          row.map((cell, at) => Math.max(cell.length, most[at] ?? 0)),
        [],
      )
      for (const row of rows)
        line(
          row
            .map((cell, at) => cell.padEnd(widths[at] ?? 0))
            .join('  ')
            .trimEnd(),
        )
    },
    json: (value) => line(toJson(value)),
    good: paint(32),
    warn: paint(33),
    bad: paint(31),
    faint: paint(2),
  }
}
