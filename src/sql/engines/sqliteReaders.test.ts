import { expect, test } from 'vitest'
import { nextTurn } from '../../core/wait.js'
import { limitReaders } from './sqliteReaders.js'

/** Blocks the event loop for this many milliseconds. */
function compute(milliseconds: number): void {
  const end = performance.now() + milliseconds
  while (performance.now() < end);
}

test('readers are served in the order in which they came', async () => {
  const limit = limitReaders(2)
  const served: number[] = []
  const all = Array.from({ length: 9 }, (_, at) =>
    limit(async () => {
      served.push(at)
      // Every second reader takes more than one turn of the event loop.
      if (at % 2) await nextTurn()
    }),
  )
  await Promise.all(all)
  expect(served).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8])
})

test('the event loop gets its turn between readers that compute', async () => {
  const limit = limitReaders(1)
  const turns: number[] = []
  let turn = 0
  let isOver = false
  const count = () => {
    turn++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  const all = Array.from({ length: 20 }, () =>
    limit(async () => {
      compute(6)
      turns.push(turn)
    }),
  )
  await Promise.all(all)
  isOver = true
  // Five readers in one turn would take longer than the limit of 25 ms, so the
  // event loop gets turns between them.
  expect(new Set(turns).size).toBeGreaterThanOrEqual(4)
})

test('a reader that waits for another one does not stop it', async () => {
  const limit = limitReaders(1)
  const found = await limit(() => limit(async () => 'inner'))
  expect(found).toBe('inner')
})

test('a reader that fails makes room', async () => {
  const limit = limitReaders(1)
  const failing = limit(() => Promise.reject(new Error('broken')))
  const next = limit(async () => 'served')
  await expect(failing).rejects.toThrow('broken')
  expect(await next).toBe('served')
})
