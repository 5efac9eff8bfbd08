import process from 'node:process'
import { accountKinds, flows, isBatch } from './plan.js'
import { readPoints } from './points.js'
import type { KillCase } from './runKill.js'
import type { Scene } from './startKills.js'

export const isFull = process.env.COUNTERSIGN_FULL === '1'

/** The ordinary run draws the same each time, the full one anew. */
export const killSeed =
  Number(process.env.COUNTERSIGN_SEED) ||
  (isFull ? Date.now() % 2 ** 31 : 10878755)

export const scenes: readonly Scene[] = flows.flatMap((flow) =>
  accountKinds
    // A wallet that sends by itself is asked for one capture at a time.
    .filter((account) => !isBatch(flow) || account === 'local')
    .map((account) => ({ flow, account })),
)

/** A death before and after each point on the list. */
export function killCases(
  engine: KillCase['engine'],
  isWanted: (scene: Scene) => boolean = () => true,
): KillCase[] {
  const points = readPoints()
  return scenes.filter(isWanted).flatMap((scene) =>
    (points[scene.flow][scene.account] ?? []).flatMap((point) =>
      (['before', 'after'] as const).map((when) => ({
        ...scene,
        engine,
        kill: { point, when },
      })),
    ),
  )
}

/** Deaths at times nobody chose. */
export function randomCases(
  engines: readonly KillCase['engine'][],
  count: number,
  random: () => number,
): KillCase[] {
  const drawOne = <item>(items: readonly item[]): item => {
    const item = items[Math.floor(random() * items.length)]
    if (item === undefined) throw new Error('nothing to draw from')
    return item
  }
  return Array.from({ length: count }, () => {
    const scene = drawOne(scenes)
    const most = scene.account === 'local' ? 4 : 1
    return {
      ...scene,
      engine: drawOne(engines),
      orders: 1 + Math.floor(random() * most),
      kill: { afterMs: Math.floor(random() * 400) },
    }
  })
}
