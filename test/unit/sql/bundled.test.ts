import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { expect, onTestFinished, test } from 'vitest'

test('a bundle that contains pg and cannot run it says so, and why', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-bundled-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const outfile = join(folder, 'main.mjs')
  await build({
    stdin: {
      contents: `import { loadPostgres } from './postgresPool.ts'
        loadPostgres().catch(({ message }) => console.log(message))`,
      resolveDir: 'src/sql/engines',
    },
    bundle: true,
    format: 'esm',
    platform: 'node',
    logLevel: 'silent',
    outfile,
  })
  const told = execFileSync(process.execPath, [outfile], { encoding: 'utf8' })
  expect(told).toMatch(
    /^The store needs the package pg, which cannot be loaded here \(Dynamic require of "\w+" is not supported\): leave it out of your bundle, or install it again\.$/m,
  )
})
