import { expect, test } from 'vitest'
import { postgresStore } from './postgresStore.js'

const connectionString = 'postgres://localhost/shop'

test.each([
  ['a mode it does not know', 'asynchronous', '"asynchronous"'],
  ['a value of another type', true, 'true (boolean)'],
])('%s of standbys is refused by name', (_, standbys, shown) => {
  const given = { connectionString, standbys } as never
  expect(() => postgresStore(given)).toThrow(
    `standbys must be 'synchronous', not ${shown}.`,
  )
})
