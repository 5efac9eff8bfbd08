import { expect, test } from 'vitest'
import { nextTurn } from '../core/wait.js'
import { openAdmission } from './admission.js'

test('requests begin in the order in which they came, a few in each turn', async () => {
  const admit = openAdmission({ atOnce: 100, inTurn: 4 })
  const begun: number[] = []
  const all = Array.from({ length: 10 }, (_, at) =>
    admit(async () => {
      begun.push(at)
    }),
  )
  const seen: number[] = []
  while (begun.length < 10) {
    await nextTurn()
    seen.push(begun.length)
  }
  await Promise.all(all)
  expect(begun).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  const inTurns = seen.map((count, at) => count - (seen[at - 1] ?? 0))
  expect(Math.max(...inTurns.slice(1))).toBeLessThanOrEqual(4)
})

test('a request that comes later does not overtake one that waits', async () => {
  const admit = openAdmission({ atOnce: 100, inTurn: 1 })
  const begun: string[] = []
  const note = (name: string) =>
    admit(async () => {
      begun.push(name)
    })
  const all = [note('first'), note('second'), note('third')]
  await nextTurn()
  all.push(note('later'))
  await Promise.all(all)
  expect(begun).toEqual(['first', 'second', 'third', 'later'])
})

test('a request too many is refused at once, and served when another has ended', async () => {
  const admit = openAdmission({ atOnce: 2, inTurn: 8 })
  let end: () => void = () => undefined
  const hanging = admit(
    () =>
      new Promise<string>((resolve) => {
        end = () => resolve('ended')
      }),
  )
  const failing = admit(() => Promise.reject(new Error('broken')))
  expect(await admit(async () => 'served')).toBeUndefined()
  await expect(failing).rejects.toThrow('broken')
  expect(await admit(async () => 'served')).toBe('served')
  end()
  expect(await hanging).toBe('ended')
})

test('requests one after another are all served', async () => {
  const admit = openAdmission({ atOnce: 1, inTurn: 2 })
  for (let at = 0; at < 7; at++) expect(await admit(async () => at)).toBe(at)
})
