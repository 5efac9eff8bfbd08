import { expect, test } from 'vitest'
import { drawAddress, drawDestination } from '../../test/storeCases/samples.js'
import { orderStates } from '../orders/model/moves.js'
import { findOrders } from '../sql/sqlOrders.js'
import { bothSides } from '../sql/tables/archivedTables.js'
import { durableDialect } from './durableDialect.js'
import { durableSession } from './durableSession.js'

test('the longest statement has at most 100,000 characters', async () => {
  const texts: string[] = []
  const session = durableSession({
    run: ({ text }) => {
      texts.push(text)
      return { rows: [], rowsWritten: 0 }
    },
    commit: async () => undefined,
    undo: () => undefined,
  })
  const listed = Array.from({ length: durableDialect.mostNamed }, () =>
    drawDestination(),
  )
  await findOrders(
    { session, dialect: durableDialect, locks: false, sides: bothSides },
    {
      listed,
      states: orderStates,
      payer: drawAddress(),
      before: 2n ** 63n - 1n,
      limit: 200,
    },
  )
  expect(texts).toHaveLength(1)
  expect(texts[0]?.length).toBeLessThanOrEqual(100_000)
})
