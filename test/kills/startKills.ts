import {
  type StartDevChainParameters,
  startDevChain,
} from 'countersign/devchain'
import { bundleWorker } from './bundleWorker.js'
import type { AccountKind, KilledFlow } from './plan.js'
import { recordPoints } from './recordPoints.js'
import { type KillCase, runKill } from './runKill.js'

export type Scene = { flow: KilledFlow; account: AccountKind }

export type Kills = {
  /** What is wrong after each; nothing must be. */
  killAll(cases: readonly KillCase[]): Promise<string[]>
  record(scenes: readonly Scene[]): Promise<(readonly string[])[]>
  stop(): Promise<void>
}

/** Chains and a program for processes that die, two at a time. */
export async function startKills(
  options: Pick<StartDevChainParameters, 'blockTime' | 'token'> = {},
): Promise<Kills> {
  const { blockTime = 0, token } = options
  const [worker, ...chains] = await Promise.all([
    bundleWorker('worker'),
    // One each: a case may move the time of its chain.
    startDevChain({ blockTime, token }),
    startDevChain({ blockTime, token }),
  ])
  return {
    killAll: async (cases) =>
      (
        await runInSlots(chains, cases, (chain, one) =>
          runKill(worker.file, chain, one),
        )
      ).flat(),
    record: (scenes) =>
      runInSlots(chains, scenes, (chain, scene) =>
        recordPoints(worker.file, chain, scene),
      ),
    stop: async () => {
      worker.remove()
      await Promise.all(chains.map((chain) => chain.stop()))
    },
  }
}

/** Does everything, each slot one thing after the other. */
export async function runInSlots<slot, item, result>(
  slots: readonly slot[],
  items: readonly item[],
  run: (slot: slot, item: item) => Promise<result>,
): Promise<result[]> {
  const left = [...items.entries()]
  const results: result[] = []
  await Promise.all(
    slots.map(async (slot) => {
      for (let next = left.shift(); next; next = left.shift())
        results[next[0]] = await run(slot, next[1])
    }),
  )
  return results
}
