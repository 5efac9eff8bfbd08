import { expect, test } from 'vitest'
import { gatherCalls } from './gatherCalls.js'

type Call = { value: number }

/**
 * Starts `gatherCalls` with work whose groups end only when the test ends them.
 */
function openDesk({
  atOnce = 1,
  isWorthAlone = true,
  most = 100,
  waitsForTurn = false,
} = {}) {
  const groups: number[][] = []
  const ends: (() => void)[] = []
  const call = gatherCalls<Call, number>({
    work: async (inputs) => {
      const values = inputs.map(({ value }) => value)
      groups.push(values)
      await new Promise<void>((resolve) => ends.push(resolve))
      if (values.includes(13)) throw new Error('13')
      return values.map((value) => value * 2)
    },
    choose: (waiting) => waiting.slice(0, most),
    atOnce,
    waitsForTurn,
    isWorthAlone: () => isWorthAlone,
  })
  const endAll = async () => {
    for (const end of ends.splice(0)) end()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { groups, endAll, ask: (value: number) => call({ value }) }
}

test('a call alone begins at once', () => {
  const { groups, ask } = openDesk()
  void ask(1)
  expect(groups).toEqual([[1]])
})

test('calls that come while others are at work are done together', async () => {
  const { groups, endAll, ask } = openDesk()
  const all = Promise.all([1, 2, 3, 4].map(ask))
  await endAll()
  expect(groups).toEqual([[1], [2, 3, 4]])
  await endAll()
  expect(await all).toEqual([2, 4, 6, 8])
})

test('with `waitsForTurn`, the first call also waits for the others of its turn', async () => {
  const { groups, endAll, ask } = openDesk({ waitsForTurn: true, most: 2 })
  void [1, 2, 3].map(ask)
  expect(groups).toEqual([])
  await endAll()
  await endAll()
  expect(groups).toEqual([[1, 2], [3]])
})

test('a group that hangs holds up no more than its place', async () => {
  const { groups, ask } = openDesk({ atOnce: 2, most: 1 })
  void ask(1)
  void ask(2)
  void ask(3)
  expect(groups).toEqual([[1], [2]])
})

test('when a group fails, each of its calls is tried alone, and the good ones succeed', async () => {
  const { groups, endAll, ask } = openDesk()
  void ask(1)
  const others = Promise.allSettled([2, 13, 3].map(ask))
  for (let turn = 0; turn < 5; turn++) await endAll()
  expect(groups).toEqual([[1], [2, 13, 3], [2], [13], [3]])
  const results = (await others).map(({ status }) => status)
  expect(results).toEqual(['fulfilled', 'rejected', 'fulfilled'])
})

test('when it makes no sense to try again, all calls of a group fail together', async () => {
  const { groups, endAll, ask } = openDesk({ isWorthAlone: false })
  void ask(1)
  const others = Promise.allSettled([2, 13].map(ask))
  for (let turn = 0; turn < 3; turn++) await endAll()
  expect(groups).toEqual([[1], [2, 13]])
  expect((await others).map(({ status }) => status)).toEqual([
    'rejected',
    'rejected',
  ])
})
