import { LogRangeError } from 'countersign/reads'
import { expect, test } from 'vitest'
import { ClockSkewError, InvalidAmountError } from './errors.js'

const written = (error: unknown) => JSON.parse(JSON.stringify(error))

test('an error becomes JSON with its message, bigints as decimal strings', () => {
  const error = new ClockSkewError({ chain: 2n ** 70n, wall: 5n })
  expect(error.message).toContain(`The chain's clock (${2n ** 70n})`)
  expect(written(error)).toEqual({
    name: 'ClockSkewError',
    message: error.message,
    retryable: true,
    details: { chain: `${2n ** 70n}`, wall: '5' },
  })
  const facts = { block: 7n, kind: 'fault', words: 'no' }
  expect(written({ error: new LogRangeError(facts) }).error).toMatchObject({
    details: { ...facts, block: '7' },
  })
})

test('to become JSON changes nothing of an error', () => {
  const error = new InvalidAmountError('1,5', 'a decimal')
  const { details } = error
  JSON.stringify(error)
  expect(error.details).toBe(details)
})
