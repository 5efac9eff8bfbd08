import { afterAll, expect, test } from 'vitest'
import {
  type ChannelSceneName,
  channelScenes,
  dieInScene,
  type PointKill,
} from '../../../chain/support/channelKills.js'
import { bundleWorker } from '../../../kills/bundleWorker.js'
import { isFull } from '../../../kills/killCases.js'
import { runInSlots } from '../../../kills/startKills.js'

const worker = await bundleWorker('channelWorker')
afterAll(() => worker.remove())

/** Only reads: a death before it leaves the same as a death after it. */
const isRead = (point: string): boolean =>
  /^(read|open|eth_|takeLease|sign)/.test(point) &&
  !point.startsWith('eth_sendRawTransaction')

const killsAt = (points: readonly string[]): PointKill[] =>
  points
    .filter((point) => !/^(read|open)/.test(point))
    .flatMap((point): PointKill[] => {
      const before: PointKill = { point, when: 'before' }
      const after: PointKill = { point, when: 'after' }
      return isRead(point) && !isFull ? [before] : [before, after]
    })

/**
 * Plays a scene up to `tries` times until its kill is reached: a process that
 * waits reads as often as the wait allows, so a run may lack a later read.
 * Returns the problems of all runs.
 */
async function dieReached(
  name: ChannelSceneName,
  kill: PointKill,
  tries: number,
): ReturnType<typeof dieInScene> {
  const died = await dieInScene(worker.file, name, kill)
  if (!died.told || tries === 1) return died
  const again = await dieReached(name, kill, tries - 1)
  return { ...again, problems: [...died.problems, ...again.problems] }
}

const names = Object.keys(channelScenes) as ChannelSceneName[]

test.each(names.filter((name) => !('downFor' in channelScenes[name])))(
  'dying anywhere in %s, a process leaves a channel that is charged and claimed once, and serves again',
  async (name) => {
    const { told, problems } = await dieInScene(worker.file, name)
    expect(problems).toEqual([])
    const kills = killsAt(told?.points ?? [])
    const found = await runInSlots([1, 2], kills, async (_, kill) => {
      // What workers do side by side may pass other points this time.
      const mayMiss = channelScenes[name].flow === 'work'
      const { told, problems } = await dieReached(name, kill, mayMiss ? 1 : 5)
      const missed = told && !mayMiss ? ['nobody died'] : []
      return [...missed, ...problems].map(
        (one) => `${kill.when} ${kill.point}: ${one}`,
      )
    })
    expect(found.flat()).toEqual([])
  },
  1_800_000,
)
