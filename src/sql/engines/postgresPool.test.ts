import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import {
  type PostgresClient,
  type PostgresPool,
  watchPool,
} from './postgresPool.js'

beforeEach(
  () =>
    void vi.useFakeTimers({
      toFake: ['setTimeout', 'clearTimeout', 'performance'],
    }),
)
afterEach(() => void vi.useRealTimers())

/** A pool that lends its only connection again, although that was destroyed. */
function stubbornPool(query: PostgresClient['query']) {
  const client: PostgresClient = {
    query,
    on: () => undefined,
    removeListener: () => undefined,
    release: () => undefined,
  }
  let lent = 0
  const pool: PostgresPool = {
    connect: async () => {
      lent++
      return client
    },
    on: () => undefined,
    removeListener: () => undefined,
    end: async () => undefined,
  }
  return { pool, lent: () => lent }
}

test('a pool that lends a silent connection again is asked only once more', async () => {
  const answers = [Promise.resolve({ rows: [] }), new Promise<never>(() => {})]
  const { pool, lent } = stubbornPool(
    () => answers.shift() ?? Promise.resolve({ rows: [] }),
  )
  const { connect } = watchPool(pool)()
  const first = await connect()
  await first.query('select 1', [])
  await vi.advanceTimersByTimeAsync(1)
  const silent = expect(first.query('select 1', [])).rejects.toMatchObject({
    code: 'no answer',
  })
  await vi.advanceTimersByTimeAsync(5_000)
  await silent
  first.release()
  const second = await connect()
  expect(await second.query('select 1', [])).toEqual({ rows: [] })
  expect(lent()).toBe(3)
})
