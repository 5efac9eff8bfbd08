import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { postgresStore, sqliteStore } from 'countersign/sql'
import type { OrderState, PaymentStore } from 'countersign/store'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { seededRandom } from '../../../src/testing/seededRandom.js'
import {
  drawDestination,
  drawId,
  sampleEvent,
  sampleOrder,
} from '../../storeCases/samples.js'
import { startDatabase, type TestDatabase } from '../support/database.js'

const folder = mkdtempSync(join(tmpdir(), 'countersign-counts-'))
let database: TestDatabase
let connectionString: string

beforeAll(async () => {
  database = await startDatabase()
  connectionString = await database.create('counts')
})

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await database.stop()
})

const states: readonly OrderState[] = ['stored', 'capturing', 'captured']
const perOrder = 8

const stores: [string, () => PaymentStore][] = [
  ['SQLite', () => sqliteStore({ file: join(folder, 'counts.db') })],
  ['PostgreSQL', () => postgresStore({ connectionString })],
]

test.each(stores)(
  'in %s, counts equal the rows after writers moved orders at the same time',
  async (_, open) => {
    const destinations = [drawDestination(), drawDestination()]
    const [first, second] = [open(), open()]
    const orders = Array.from({ length: 30 }, (_, at) =>
      sampleOrder(destinations[at % 2] ?? drawDestination(), { id: drawId() }),
    )
    await first.write((it) => it.orders.insert(orders))
    const random = seededRandom(7)
    const pick = (count: number) => Math.floor(random() * count)
    /** Moves some orders in one unit of work, with an event or without. */
    const move = (store: PaymentStore): Promise<void> => {
      const ids = [0, 1, 2].map(() => orders[pick(orders.length)]?.id ?? '')
      const moves = ids.map(() => states[pick(states.length)] ?? 'stored')
      const hasEvents = random() < 0.5
      return store.write(async (it) => {
        for (const row of await it.orders.find({ ids })) {
          const state = moves[ids.indexOf(row.id)] ?? 'stored'
          await it.orders.update([{ ...row, state }])
          if (hasEvents) await it.events.append([sampleEvent(row)])
        }
      })
    }
    const moves = Array.from({ length: orders.length * perOrder }, (_, at) =>
      move(at % 2 ? first : second),
    )
    await Promise.all(moves)
    for (const listed of [destinations, destinations.slice(1)]) {
      const { rows, counts } = await first.read(async (it) => ({
        rows: await it.orders.find({ listed, limit: 100 }),
        counts: await it.orders.count(listed),
      }))
      const expected = rows.reduce(
        (sums, { state }) => sums.set(state, (sums.get(state) ?? 0) + 1),
        new Map<string, number>(),
      )
      expect(counts).toEqual(Object.fromEntries(expected))
    }
    await first.close()
    await second.close()
  },
)
