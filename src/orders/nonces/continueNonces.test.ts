import { expect, test } from 'vitest'
import type { TransactionRecord } from '../../store/types.js'
import type { NonceClaim } from '../account/accountNonces.js'
import { judgeNextNonce } from './continueNonces.js'

type Look = { count: number; pendingCount: number }

/** Returns the decision of each poll, one after the other. */
function decide(
  nextNonce: number,
  looks: readonly Look[],
  nonces: readonly number[] = [],
): (number | undefined)[] {
  const rows = nonces.map((nonce) => ({ nonce }) as TransactionRecord)
  let claim: NonceClaim | undefined
  return looks.map((look) => {
    const judged = judgeNextNonce(
      { nonces: { value: { nextNonce }, claim }, inFlight: { rows } },
      look,
    )
    claim = judged.claim
    return judged.next
  })
}

const times = (looks: number, look: Look) =>
  Array.from({ length: looks }, () => look)

test('what the record says is used at once', () => {
  expect(decide(7, [{ count: 5, pendingCount: 7 }], [5, 6])).toEqual([7])
  expect(decide(7, [{ count: 7, pendingCount: 7 }])).toEqual([7])
})

test('a pending count that no pool holds is never believed', () => {
  const looks = times(10, { count: 7, pendingCount: 5000 })
  expect(decide(7, looks)).toEqual(times(10, undefined as never))
})

test('a few transactions of another sender are believed at the third look', () => {
  const looks = times(4, { count: 7, pendingCount: 9 })
  expect(decide(7, looks)).toEqual([undefined, undefined, 9, 9])
})

test('a claim that changes begins again', () => {
  const looks = [
    ...times(2, { count: 7, pendingCount: 9 }),
    ...times(2, { count: 7, pendingCount: 10 }),
    { count: 7, pendingCount: 7 },
  ]
  expect(decide(7, looks)).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
    7,
  ])
})

test('the count of an account that was used before is believed at the third look', () => {
  const looks = times(3, { count: 5000, pendingCount: 5000 })
  expect(decide(0, looks)).toEqual([undefined, undefined, 5000])
})

test('a nonce far ahead of the chain goes back where nothing of ours is in between', () => {
  const looks = times(3, { count: 7, pendingCount: 7 })
  expect(decide(5000, looks)).toEqual([undefined, undefined, 7])
  expect(decide(5000, looks, [4999])).toEqual([5000, 5000, 5000])
})
