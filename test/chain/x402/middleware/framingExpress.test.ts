import { expect, test } from 'vitest'
import { seededRandom } from '../../../../src/testing/seededRandom.js'
import { framingCases } from '../../support/framingCases.js'
import { compareFraming } from '../../support/framingExpress.js'

const random = seededRandom(3)
const drawn = Array.from({ length: 20 }, () => {
  const one = framingCases[Math.floor(random() * framingCases.length)]
  if (!one) throw new Error('no case')
  return [Object.values(one).join(', '), one] as const
})

test.each(drawn)(
  'Express answers and throws the same with a gate: %s',
  async (_, one) => {
    const { free, sold, kept, thrown, freeThrown } = await compareFraming(one)
    expect(sold).toEqual(free)
    if (kept) expect(kept).toEqual(free)
    expect(thrown).toEqual(freeThrown)
  },
)
