import { expect, test } from 'vitest'
import * as z from 'zod'
import { checkZod } from './checkZod.js'

test('zod 3 is refused by its name, and zod 4 is not', () => {
  expect(() => checkZod(undefined)).toThrow(
    'createPaymentHandler needs zod 4.0.0 or later, and zod 3 or older is installed: run npm install zod@4.',
  )
  expect(() => checkZod(z.toJSONSchema)).not.toThrow()
})
