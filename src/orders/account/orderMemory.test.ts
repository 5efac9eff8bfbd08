import { expect, test } from 'vitest'
import { dropPauses, nextPause, type RefusalPauses } from './orderMemory.js'

test('pauses between refusals in a row begin with seconds and double up to 30', () => {
  const pauses: RefusalPauses = new Map()
  const waited: bigint[] = []
  let now = 1000n
  for (let tries = 0; tries < 7; tries++) {
    const pause = nextPause(pauses, 'one', now)
    waited.push(pause)
    now += pause
  }
  expect(waited).toEqual([2n, 4n, 8n, 16n, 30n, 30n, 30n])
  expect(nextPause(pauses, 'another', now)).toBe(2n)
})

test('an order that was not refused for a while begins again', () => {
  const pauses: RefusalPauses = new Map()
  expect(nextPause(pauses, 'one', 100n)).toBe(2n)
  expect(nextPause(pauses, 'one', 102n)).toBe(4n)
  expect(nextPause(pauses, 'one', 500n)).toBe(2n)
})

test('pauses that are over are forgotten', () => {
  const pauses: RefusalPauses = new Map()
  nextPause(pauses, 'old', 100n)
  nextPause(pauses, 'new', 150n)
  dropPauses(pauses, 160n)
  expect([...pauses.keys()]).toEqual(['new'])
})
