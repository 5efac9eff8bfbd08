import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { entryFiles, importPathOf } from '../../scripts/entryFiles.js'

const root = fileURLToPath(new URL('../..', import.meta.url))

/**
 * Builds a program of a folder, this one if none is named, into one file that
 * plain `node` starts at once. Native packages stay outside, and are found beside it.
 */
export async function bundleWorker(
  name: string,
  from = 'test/kills',
): Promise<{ file: string; remove: () => void }> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-kills-'))
  const file = join(folder, `${name}.mjs`)
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  await build({
    absWorkingDir: root,
    entryPoints: [`${from}/${name}.ts`],
    alias: Object.fromEntries(
      Object.entries(entryFiles).map(([entry, path]) => [
        importPathOf(entry),
        join(root, path),
      ]),
    ),
    external: ['libsql', 'pg'],
    outfile: file,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'silent',
  })
  return {
    file,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
