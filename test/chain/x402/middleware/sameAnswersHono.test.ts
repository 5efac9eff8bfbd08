import { expect, test } from 'vitest'
import { compareHono, honoParts } from '../../support/compareHono.js'
import { type AnswerCase, drawCases, nameOf } from '../../support/drawCases.js'

/** Middleware in front leaves a stream as it is, and compresses the rest. */
const streams = ['stream', 'streamText', 'events', 'text'].map(
  (handler): AnswerCase => ({
    inFront: ['compress'],
    behind: [],
    handler,
    request: 'browser',
  }),
)

test.each(
  [...streams, ...drawCases(honoParts, { seed: 1, count: 20 })].map(
    (one) => [nameOf(one), one] as const,
  ),
)('Hono answers the same with a gate: %s', async (_, one) => {
  const { free, sold, kept } = await compareHono(one)
  expect(sold).toEqual(free)
  if (kept) expect(kept).toEqual(free)
})
