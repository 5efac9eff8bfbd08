import { expect, test } from 'vitest'
import { drawAddress, drawDestination } from '../../test/storeCases/samples.js'
import { indexDestinations, isInDestinations } from './isInDestinations.js'

const token = drawAddress()
const own = [
  drawDestination({ token }),
  drawDestination({ token }),
  drawDestination({ chainId: 10 }),
]
const [first = drawDestination(), , other = drawDestination()] = own

test.each([
  ['a list', own],
  ['a frozen list', Object.freeze([...own])],
])('a row belongs to %s by chain, token and recipient together', (_, list) => {
  for (const one of own) expect(isInDestinations({ ...one }, list)).toBe(true)
  const crossed = [
    { ...first, chainId: other.chainId },
    { ...first, token: other.token },
    { ...first, recipient: other.recipient },
  ]
  for (const one of crossed) expect(isInDestinations(one, list)).toBe(false)
})

test('a list that changes is looked at again', () => {
  const list = [first]
  expect(indexDestinations(list).has(other)).toBe(false)
  list.push(other)
  expect(indexDestinations(list).has(other)).toBe(true)
})

test('an index names each token once', () => {
  expect(indexDestinations(own).tokens).toEqual([
    { chainId: first.chainId, token },
    { chainId: 10, token: other.token },
  ])
})
