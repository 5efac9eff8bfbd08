import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { toBody } from './requestBody.js'

test('bytes of another realm that a body parser read stay the bytes they are', () => {
  const body: Uint8Array = runInNewContext('new Uint8Array([1, 2, 255])')
  expect(body instanceof Uint8Array).toBe(false)
  const request = { method: 'POST', headers: {}, body }
  expect(toBody(Object(request)).content).toEqual(new Uint8Array([1, 2, 255]))
})
