import { afterAll, expect, test } from 'vitest'
import { seededRandom } from '../../../src/testing/seededRandom.js'
import { isFull, killCases, killSeed } from '../../kills/killCases.js'
import { startKills } from '../../kills/startKills.js'

const kills = await startKills({ token: 'usdc' })
afterAll(() => kills.stop())

const share = isFull ? 'all' : 'a sixteenth'

test(`dying anywhere, a process leaves orders in Circle's own token that are settled once (${share}, seed ${killSeed})`, async () => {
  const random = seededRandom(killSeed)
  const cases = killCases('sqlite').filter(() => isFull || random() < 1 / 16)
  expect(await kills.killAll(cases)).toEqual([])
}, 1_800_000)
