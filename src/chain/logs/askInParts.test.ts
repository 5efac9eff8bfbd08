import { expect, test } from 'vitest'
import { askInParts, splitTopics } from './askInParts.js'

const numbers = (count: number) => Array.from({ length: count }, (_, at) => at)

/** Asks about this many numbers with `askInParts`, and counts the requests. */
async function ask(
  count: number,
  isRefused: (part: readonly number[]) => boolean,
) {
  let asked = 0
  const { answers, refused } = await askInParts(
    splitTopics(numbers(count)),
    async (part) => {
      asked++
      if (isRefused(part)) throw new Error('refused')
      return part
    },
  )
  const found = answers.flat().sort((one, other) => one - other)
  return { asked, found, refused: refused.flatMap(({ part }) => part) }
}

test('a long list is asked about in parts of 1,000', async () => {
  const found = numbers(2_500)
  expect(await ask(2_500, () => false)).toEqual({
    asked: 3,
    found,
    refused: [],
  })
})

test('a list that is too long for the node is answered in shorter ones', async () => {
  const { found, refused } = await ask(300, ({ length }) => length > 100)
  expect({ found, refused }).toEqual({ found: numbers(300), refused: [] })
})

test('what is refused by itself costs no other its answer', async () => {
  const { asked, found, refused } = await ask(300, (part) => part.includes(7))
  expect(refused).toEqual([7])
  expect(found).toEqual(numbers(300).filter((one) => one !== 7))
  expect(asked).toBeLessThanOrEqual(19)
})

test('a node that answers nothing is not asked about each', async () => {
  const { asked, found, refused } = await ask(1_000, () => true)
  expect(asked).toBeLessThanOrEqual(7)
  expect(found).toEqual([])
  expect(refused).toHaveLength(1_000)
})

test('a node that refuses most is asked a limited number of times', async () => {
  const { asked, found, refused } = await ask(
    1_000,
    (part) => part.length > 1 || part[0] !== 1,
  )
  expect(asked).toBeLessThan(200)
  expect(found.length + refused.length).toBe(1_000)
})
