import { expect, test } from 'vitest'
import { compareExpress, expressParts } from '../../support/compareExpress.js'
import { drawCases, nameOf } from '../../support/drawCases.js'

test.each(
  drawCases(expressParts, { seed: 1, count: 20 }).map(
    (one) => [nameOf(one), one] as const,
  ),
)('Express answers the same with a gate: %s', async (_, one) => {
  const { free, sold, kept, lengths } = await compareExpress(one)
  expect(sold).toEqual(free)
  if (kept) expect(kept).toEqual(free)
  expect(lengths[1]).toBe(lengths[0])
})
