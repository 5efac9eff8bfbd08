import { afterAll, expect, test } from 'vitest'
import { seededRandom } from '../../../src/testing/seededRandom.js'
import { startDatabase } from '../../chain/support/database.js'
import {
  isFull,
  killCases,
  killSeed,
  randomCases,
} from '../../kills/killCases.js'
import { startKills } from '../../kills/startKills.js'

const [kills, liveKills, database] = await Promise.all([
  startKills(),
  startKills({ blockTime: 0.2 }),
  startDatabase(),
])
afterAll(async () => {
  await Promise.all([kills.stop(), liveKills.stop(), database.stop()])
})

const postgres = { postgres: await database.create('kills'), schema: 'shop' }
const share = isFull ? 'all' : 'an eighth'
const times = isFull ? 500 : 25

test(`dying anywhere else, or on a server, a process leaves orders that are settled once (${share}, seed ${killSeed})`, async () => {
  const random = seededRandom(killSeed)
  const cases = [
    ...killCases('sqlite', ({ flow }) => flow !== 'capture'),
    ...killCases(postgres),
  ].filter(() => isFull || random() < 1 / 8)
  expect(await kills.killAll(cases)).toEqual([])
}, 1_800_000)

test(`dying at any time, a process leaves orders that are settled once (${times} times, seed ${killSeed})`, async () => {
  const cases = randomCases(['sqlite', postgres], times, seededRandom(killSeed))
  expect(await liveKills.killAll(cases)).toEqual([])
}, 1_800_000)
