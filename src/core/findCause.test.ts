import { BaseError } from 'viem'
import { expect, test } from 'vitest'
import { findCause } from './findCause.js'

const inner = new BaseError('inner', { name: 'InnerError' })
const outer = new BaseError('outer', { cause: inner, name: 'OuterError' })

test('an error is found by its name, and so is a cause of it', () => {
  expect(findCause(outer, 'OuterError')).toBe(outer)
  expect(findCause(outer, 'InnerError')).toBe(inner)
  expect(findCause(inner, 'OuterError')).toBeUndefined()
})

test.each([undefined, null, 'InnerError', 0])('%s has no cause', (value) => {
  expect(findCause(value, 'InnerError')).toBeUndefined()
})

test('a circle of causes ends the search', () => {
  const circle = new Error('circle')
  circle.cause = circle
  expect(findCause(circle, 'InnerError')).toBeUndefined()
})
