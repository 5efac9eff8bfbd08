import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import process from 'node:process'
import { entryFiles } from './entryFiles.js'

/**
 * Writes a file for each entry, all into one folder until the process ends, and
 * returns them by the names of the entries. The bundler of declarations starts
 * the compiler anew for each folder that has an entry, which takes 300 MB and
 * 10 seconds each time.
 */
export function gatherEntries(root: string): Record<string, string> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-entries-'))
  process.once('exit', () => rmSync(folder, { recursive: true }))
  return Object.fromEntries(
    Object.entries(entryFiles).map(([entry, source]) => {
      const file = join(folder, `${entry}.ts`)
      const path = relative(folder, join(root, source)).replaceAll('\\', '/')
      writeFileSync(file, `export * from '${path.replace(/\.ts$/, '.js')}'\n`)
      return [entry, file]
    }),
  )
}
