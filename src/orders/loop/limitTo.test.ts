import { expect, test } from 'vitest'
import { limitTo } from './limitTo.js'

const never = new Promise<never>(() => undefined)

test('so many run at a time, in the order in which they came', async () => {
  const limit = limitTo(2)
  const started: number[] = []
  const ends: (() => void)[] = []
  const works = [1, 2, 3, 4].map((place) =>
    limit(async () => {
      started.push(place)
      await new Promise<void>((resolve) => ends.push(resolve))
    }),
  )
  await expect.poll(() => started).toEqual([1, 2])
  ends[1]?.()
  await expect.poll(() => started).toEqual([1, 2, 3])
  ends[0]?.()
  await expect.poll(() => started).toEqual([1, 2, 3, 4])
  for (const end of ends) end()
  await Promise.all(works)
})

test('what hangs gives its place to the next one', async () => {
  const limit = limitTo(1, 10)
  void limit(() => never)
  void limit(() => never)
  expect(await limit(async () => 'done')).toBe('done')
})

test('a place is given back once, also by work that took too long', async () => {
  const limit = limitTo(1, 10)
  let end = () => {}
  const slow = limit(
    () =>
      new Promise<void>((resolve) => {
        end = resolve
      }),
  )
  // The first work has given up its slot, so this work can start at once.
  await limit(async () => undefined)
  let isSecondOver = false
  const second = limit(async () => {
    end()
    await slow
    isSecondOver = true
  })
  await limit(async () => expect(isSecondOver).toBe(true))
  await second
})

test('work that fails gives its place back', async () => {
  const limit = limitTo(1)
  await expect(
    limit(() => Promise.reject(new Error('it failed'))),
  ).rejects.toThrow('it failed')
  expect(await limit(async () => 'done')).toBe('done')
})
