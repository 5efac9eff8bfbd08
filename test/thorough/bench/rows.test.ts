// The first time, two of 28 ended with an error: one looked for a field that the
// page no longer has, and one loaded a file that thought it was in a test. A third
// watched too shortly to count any request.
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, test } from 'vitest'
import { benches } from '../../../bench/benches.js'
import type { Row } from '../../../bench/compare.js'
import { runApart } from '../../../bench/runApart.js'

/** Ends a bench that hangs; the smallest size takes seconds. */
const minutes = 8

beforeAll(() => {
  const built = new URL('../../../dist/node/index.js', import.meta.url)
  if (!existsSync(fileURLToPath(built)))
    throw new Error('There is no build: run `npm run build` first.')
})

test.each(benches)(
  'the bench $name at its smallest size gives rows with figures',
  async ({ name }) => {
    const rows = await runApart({ name, minutes }, ['--smoke'])
    expect(rows.length).toBeGreaterThan(0)
    expect(rows.filter((row) => !hasFigures(row))).toEqual([])
  },
)

function hasFigures({ name, peer, unit, goal, ratio, sides }: Row): boolean {
  const figures = [ratio, ...(sides ? [sides.own, sides.peer] : [])]
  const texts = [name, peer, unit].join()
  return (
    Number.isFinite(goal) &&
    figures.every((figure) => Number.isFinite(figure) && figure > 0) &&
    !/NaN|undefined|Infinity/.test(texts)
  )
}
