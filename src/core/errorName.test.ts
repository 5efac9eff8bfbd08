import { expect, test } from 'vitest'
import { errorName } from './errorName.js'

test.each([
  [new RangeError('no'), 'RangeError'],
  [{ name: 'NodeError' }, 'NodeError'],
  [{ name: `Bad 0x${'ab'.repeat(65)}` }, 'Error'],
  [{ name: `x${'ab'.repeat(65)}` }, 'Error'],
  [{ name: 7 }, 'Error'],
  ['text', 'Error'],
  [undefined, 'Error'],
])('the name of %s', (thrown, name) => {
  expect(errorName(thrown)).toBe(name)
})
