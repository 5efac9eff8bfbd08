import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DevChain } from 'countersign/devchain'
import { judge } from './judge.js'
import { openStore } from './openShop.js'
import {
  type AccountKind,
  type Engine,
  type Flow,
  isBatch,
  type Kill,
} from './plan.js'
import { startChild } from './runChild.js'
import { setStage } from './stage.js'
import { readLeases } from './toldLeases.js'

/** One process that dies at one place. */
export type KillCase = {
  flow: Flow
  account: AccountKind
  engine: 'sqlite' | { postgres: string; schema: string }
  orders?: number | undefined
  kill: Kill
}

/**
 * Has a process die, follows it, and tells what is wrong afterwards: nothing
 * must be.
 */
export async function runKill(
  worker: string,
  chain: DevChain,
  { engine, kill, ...scene }: KillCase,
): Promise<string[]> {
  return withEngine(engine, async (engine) => {
    // Long enough that nothing depends on how busy the machine is.
    const lease = 'point' in kill ? 10_000 : 600
    const stage = await setStage(chain, { ...scene, engine, lease })
    const plan = { ...stage.plan, kill }
    const { signal, code, lines, problem } = await startChild(worker, plan)
      .ended
    const where = 'point' in kill ? `${kill.when} ${kill.point}` : undefined
    // Killed at a random time, it may have been faster.
    // Of a batch, which requests go together depends on timing. Without this
    // one, the process ended by itself.
    const isMissed =
      code === 0 && isBatch(scene.flow) && where?.includes('eth_')
    const isAsPlanned = where
      ? isMissed || (signal === 'SIGKILL' && lines.at(-1) === where)
      : signal === 'SIGKILL' || code === 0
    if (where) await endLeases(engine, lines)
    const problems = isAsPlanned
      ? await judge(stage)
      : [`ended with ${signal ?? code}: ${lines.at(-1)} ${problem}`]
    const name = `${scene.flow} ${scene.account} ${JSON.stringify(kill)}`
    return problems.map((problem) => `${name}: ${problem}`)
  })
}

/**
 * Lets the leases of a dead process run out at once: waiting for each would
 * take minutes. At random times, and in the tests of workers, they are waited
 * for.
 */
export async function endLeases(
  engine: Engine,
  lines: readonly string[],
): Promise<void> {
  const store = openStore(engine)
  for (const lease of readLeases(lines)) await store.releaseLease(lease)
  await store.close()
}

/** A database of its own, where it is a file. */
export async function withEngine<result>(
  engine: KillCase['engine'],
  use: (engine: Engine) => Promise<result>,
): Promise<result> {
  if (engine !== 'sqlite') return use(engine)
  const folder = mkdtempSync(join(tmpdir(), 'countersign-orders-'))
  try {
    return await use({ sqlite: join(folder, 'orders.db') })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
