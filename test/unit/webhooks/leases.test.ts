import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteStore } from 'countersign/sql'
import { memoryStore, type PaymentStore } from 'countersign/store'
import { onTestFinished, test } from 'vitest'
import { leaseCases } from '../support/webhooksLeaseCases.js'

/** Connections to one new file. */
function openFiles(): () => PaymentStore {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-'))
  const stores: PaymentStore[] = []
  onTestFinished(async () => {
    await Promise.all(stores.map((store) => store.close()))
    rmSync(folder, { recursive: true, force: true })
  })
  return () => {
    const store = sqliteStore({ file: join(folder, 'db') })
    stores.push(store)
    return store
  }
}

function openMemory(): () => PaymentStore {
  const store = memoryStore()
  return () => store
}

for (const [kind, prepare] of [
  ['memory', openMemory],
  ['SQLite', openFiles],
] as const)
  for (const { name, run } of leaseCases)
    test(`${name}, in ${kind}`, () => run(prepare()))
