import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { openServedGate } from '../../../kills/gateStage.js'
import type { Engine } from '../../../kills/plan.js'
import { seed, startChance } from '../../support/chaos.js'
import { drawRound, openGates, runRound } from '../../support/gateSchedules.js'
import { connectionString } from '../../support/postgresStore.js'
import { chain } from '../../support/x402Desk.js'

const engines: Readonly<Record<string, (folder: string) => Engine>> = {
  SQLite: (folder) => ({ sqlite: join(folder, 'orders.db') }),
  PostgreSQL: () => ({ postgres: connectionString, schema: 'late' }),
}

test.each(Object.keys(engines))(
  `a payment sent to gates whose nodes are behind is paid and worked for once, in %s [seed ${seed}]`,
  async (name) => {
    const folder = mkdtempSync(join(tmpdir(), 'countersign-late-'))
    const key = generatePrivateKey()
    const { address } = privateKeyToAccount(key)
    await chain.clients.test.setBalance({ address, value: 10n ** 18n })
    const runs = join(folder, 'runs')
    const engine = engines[name]?.(folder)
    if (!engine) throw new Error('no engine')
    const gates = await openGates({ count: 3, runs }, async (url) => {
      const { shop, answer } = openServedGate({
        engine,
        account: 'local',
        url,
        token: chain.token,
        keys: [key],
        policy: { lease: 10_000 },
        runs,
      })
      return { answer, close: () => shop.orders.close() }
    })
    const chance = startChance(name.length)
    const problems: string[] = []
    for (const payments of [2, 2, 2, 2, 2])
      problems.push(
        ...(await runRound(gates, drawRound(chance, { gates: 3, payments }))),
      )
    await gates.close()
    rmSync(folder, { recursive: true, force: true })
    expect(problems).toEqual([])
  },
  120_000,
)
