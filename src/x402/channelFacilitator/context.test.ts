import { expect, test } from 'vitest'
import { safeBalance } from './context.js'

const at = { blockNumber: 1n, blockTime: 1n }

test('vouchers cannot rely on what a pending withdrawal takes, not even from a deposit after it', () => {
  const withdrawal = { value: 100n, initiatedAt: 1n }
  const state = { balance: 100n, claimed: 50n, withdrawal, refundNonce: 0n, at }
  expect(safeBalance(state)).toBe(50n)
  expect(safeBalance(state, 30n)).toBe(50n)
  expect(safeBalance(state, 100n)).toBe(100n)
  expect(safeBalance({ ...state, withdrawal: undefined }, 30n)).toBe(130n)
})
