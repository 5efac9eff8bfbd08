import { expect, test } from 'vitest'
import { samplePayment } from '../testing/samplePayment.js'
import { parsePayment, parseSignedPayment } from './fields.js'

test('a member that is inherited is none of the object', () => {
  const { message, ...rest } = samplePayment()
  const heir = Object.assign(Object.create({ message }), rest)
  expect(() => parsePayment(heir)).toThrow('message')
  const signed = Object.assign(Object.create({ signature: '0x12' }), {
    ...rest,
    message,
  })
  expect('signature' in parsePayment(signed)).toBe(false)
  expect(() => parseSignedPayment(signed)).toThrow('signature')
})
