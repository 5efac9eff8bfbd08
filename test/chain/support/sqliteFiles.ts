import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteStore } from 'countersign/sql'
import type { PaymentStore } from 'countersign/store'
import { onTestFinished } from 'vitest'

/** A store in a file that goes with the test. */
export function openSqlite(): PaymentStore {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return sqliteStore({ file: join(folder, 'orders.db') })
}
