import { expect, test } from 'vitest'
import { findBehind } from './findBehind.js'
import type { ChainHealth } from './nodeHealth.js'

const chain: ChainHealth = {
  chainId: 31337,
  block: 15n,
  time: 1n,
  fault: undefined,
  faultKind: undefined,
}
const seen = (reconciledTo: bigint | undefined, chainId = 31337) => ({
  chainId,
  reconciledTo,
})

test('a chain that was reset under an old database is a fault with a text', () => {
  const found = findBehind(chain, [seen(3n), seen(800n), seen(undefined)])
  expect(found).toEqual({
    ...chain,
    fault:
      'the newest block is 15, but this database has seen block 800: if the chain was reset, begin with an empty database; otherwise the node is behind',
    faultKind: 'behindDatabase',
  })
})

test('a replica that is a few blocks behind is no fault, nor another chain', () => {
  for (const one of [seen(31n), seen(800n, 1), seen(undefined)])
    expect(findBehind(chain, [one])).toBe(chain)
})

test('the fault of a node stays', () => {
  const faulty = { ...chain, fault: 'no more', faultKind: 'refused' } as const
  expect(findBehind(faulty, [seen(800n)])).toBe(faulty)
})
