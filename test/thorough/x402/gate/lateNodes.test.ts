import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, expect, test } from 'vitest'
import { seed, startChance } from '../../../chain/support/chaos.js'
import {
  drawRound,
  openGates,
  runRound,
} from '../../../chain/support/gateSchedules.js'
import { connectionString } from '../../../chain/support/postgresStore.js'
import { chain } from '../../../chain/support/x402Desk.js'
import { bundleWorker } from '../../../kills/bundleWorker.js'
import type { GatePlan } from '../../../kills/gateStage.js'
import { portOf, startChild } from '../../../kills/runChild.js'

const worker = await bundleWorker('gateWorker')
const folder = mkdtempSync(join(tmpdir(), 'countersign-late-'))
afterAll(() => {
  worker.remove()
  rmSync(folder, { recursive: true, force: true })
})

/** A process that answers requests; it tells its port. */
async function startGate(plan: GatePlan) {
  const child = startChild(worker.file, plan)
  const origin = `http://127.0.0.1:${await portOf(child)}`
  return {
    answer: ({ url, headers }: Request) =>
      fetch(origin + url.slice(new URL(url).origin.length), { headers }),
    close: async () => {
      child.kill('SIGTERM')
      await child.ended
    },
  }
}

test.each(['SQLite', 'PostgreSQL'])(
  `each of 150 payments that come to processes whose nodes are behind is paid and worked for once, in %s [seed ${seed}]`,
  async (name) => {
    const key = generatePrivateKey()
    const { address } = privateKeyToAccount(key)
    await chain.clients.test.setBalance({ address, value: 10n ** 18n })
    const runs = join(folder, name)
    const gates = await openGates({ count: 3, runs }, (url) =>
      startGate({
        engine:
          name === 'SQLite'
            ? { sqlite: join(folder, 'orders.db') }
            : { postgres: connectionString, schema: 'late' },
        account: 'local',
        url,
        token: chain.token,
        keys: [key],
        policy: { lease: 10_000 },
        runs,
      }),
    )
    const chance = startChance(name.length)
    const problems: string[] = []
    for (let round = 0; round < 15; round++)
      problems.push(
        ...(await runRound(
          gates,
          drawRound(chance, { gates: 3, payments: 10 }),
        )),
      )
    await gates.close()
    expect(problems).toEqual([])
  },
  600_000,
)
