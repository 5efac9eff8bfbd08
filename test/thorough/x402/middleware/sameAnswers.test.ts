import { expect, test } from 'vitest'
import type { Compared } from '../../../chain/support/answerCompare.js'
import {
  compareExpress,
  expressParts,
} from '../../../chain/support/compareExpress.js'
import { compareHono, honoParts } from '../../../chain/support/compareHono.js'
import {
  type AnswerCase,
  drawCases,
  nameOf,
} from '../../../chain/support/drawCases.js'

const seed = Number(process.env.COUNTERSIGN_SEED ?? 2)
const count = process.env.COUNTERSIGN_FULL ? 10_000 : 300

type Difference = Compared & { name: string }

async function findDifferences(
  cases: readonly AnswerCase[],
  compare: (one: AnswerCase) => Promise<Compared>,
): Promise<Difference[]> {
  const differences: Difference[] = []
  for (const one of cases) {
    const compared = await compare(one)
    const { free, sold, kept = free } = compared
    const isSame = [sold, kept].every(
      (seen) => JSON.stringify(seen) === JSON.stringify(free),
    )
    if (!isSame) differences.push({ name: nameOf(one), ...compared })
  }
  return differences
}

test(`Express answers the same with a gate, in ${count} cases of COUNTERSIGN_SEED=${seed}`, async () => {
  const cases = drawCases(expressParts, { seed, count })
  expect(await findDifferences(cases, compareExpress)).toEqual([])
})

test(`Hono answers the same with a gate, in ${count} cases of COUNTERSIGN_SEED=${seed}`, async () => {
  const cases = drawCases(honoParts, { seed, count })
  expect(await findDifferences(cases, compareHono)).toEqual([])
})
