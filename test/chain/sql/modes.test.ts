import {
  chmodSync,
  mkdtempSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { sqliteStore } from 'countersign/sql'
import { afterAll, expect, test } from 'vitest'

const folder = mkdtempSync(join(tmpdir(), 'countersign-modes-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const modeOf = (file: string) => (statSync(file).mode & 0o777).toString(8)

test('only its owner can read a new SQLite file, its log and what they share', async () => {
  const before = process.umask(0o000)
  const file = join(folder, 'orders.db')
  const store = sqliteStore({ file })
  await store.open()
  process.umask(before)
  const files = [file, `${file}-wal`, `${file}-shm`]
  expect(files.map(modeOf)).toEqual(['600', '600', '600'])
  await store.close()
})

test('a file that is there keeps the mode its owner gave it', async () => {
  const file = join(folder, 'shared.db')
  writeFileSync(file, '')
  chmodSync(file, 0o640)
  const store = sqliteStore({ file })
  await store.open()
  expect(modeOf(file)).toBe('640')
  await store.close()
})
