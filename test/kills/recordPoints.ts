import type { DevChain } from 'countersign/devchain'
import type { AccountKind, Flow, Told } from './plan.js'
import { startChild } from './runChild.js'
import { withEngine } from './runKill.js'
import { setStage } from './stage.js'

/** The points a process passes that nobody kills. */
export async function recordPoints(
  worker: string,
  chain: DevChain,
  scene: { flow: Flow; account: AccountKind },
): Promise<readonly string[]> {
  return withEngine('sqlite', async (engine) => {
    const { plan } = await setStage(chain, {
      ...scene,
      engine,
      lease: 10_000,
    })
    const { code, lines, problem } = await startChild(worker, plan).ended
    if (code !== 0) throw new Error(`the worker failed: ${problem}`)
    const told: Told = JSON.parse(lines.at(-1) ?? '')
    return told.points
  })
}
