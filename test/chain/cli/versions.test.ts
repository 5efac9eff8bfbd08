import { readFileSync, rmSync } from 'node:fs'
import { startDevChain } from 'countersign/devchain'
import Database from 'libsql'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { commands } from '../../../src/cli/runCli.js'
import { type CliShop, openCliShop } from '../support/cliShop.js'

let chain: Awaited<ReturnType<typeof startDevChain>>
let shop: CliShop

beforeAll(async () => {
  chain = await startDevChain({ blockTime: 0 })
  shop = await openCliShop(chain)
  expect((await shop.run(['migrate'])).code).toBe(0)
})
afterAll(async () => {
  rmSync(shop.folder, { recursive: true, force: true })
  await chain.stop()
})

test('tables of a newer release end each command with 1, and stay as they are', async () => {
  const sqlite = new Database(shop.file)
  sqlite.exec('insert into versions (version) values (99)')
  sqlite.exec('pragma wal_checkpoint(truncate)')
  sqlite.close()
  const before = readFileSync(shop.file)
  for (const { name } of commands) {
    if (['init', 'dev', 'explain'].includes(name)) continue
    const ran = await shop.run(name === 'inspect' ? [name, 'one'] : [name])
    expect([name, ran.code, ran.stdout]).toEqual([name, 1, ''])
    expect(ran.stderr).toMatch(/^The store has tables of version 99, .+\n$/)
    expect(readFileSync(shop.file).equals(before)).toBe(true)
  }
})
