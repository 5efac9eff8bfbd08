// What the installed query builder and driver do with a store.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteStore } from 'countersign/sql'
import { storeCases } from 'countersign/testing'

const folder = mkdtempSync(join(tmpdir(), 'countersign-store-'))
try {
  for (const { run } of storeCases)
    await run(() => sqliteStore({ file: join(folder, 'cases.db') }))
} finally {
  rmSync(folder, { recursive: true, force: true })
}
