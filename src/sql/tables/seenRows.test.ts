import { expect, test } from 'vitest'
import { seenRows } from './seenRows.js'

const table = { name: 'orders', key: ['id'] }

/** A row with an id, a version and further columns. */
const at = (id: string, version: number, rest: object = {}) => ({
  id,
  version,
  ...rest,
})

test('a row is known at its version only', () => {
  const seen = seenRows()
  seen.keep(table, [at('a', 2, { state: 'stored' })])
  expect(seen.find(table, at('a', 2))).toEqual(at('a', 2, { state: 'stored' }))
  expect(seen.find(table, at('a', 3))).toBeUndefined()
  const attempts = { ...table, name: 'attempts' }
  expect(seen.find(attempts, at('a', 2))).toBeUndefined()
})

test('an old look at a row does not hide a newer one', () => {
  const seen = seenRows()
  seen.keep(table, [at('a', 3), at('a', 2)])
  expect(seen.find(table, at('a', 3))).toEqual(at('a', 3))
})

test('who writes to a row that was read changes nothing of what was seen', () => {
  const seen = seenRows()
  const row = { id: 'a', version: 1, state: 'stored' }
  seen.keep(table, [row])
  row.state = 'captured'
  expect(seen.find(table, row)).toEqual(at('a', 1, { state: 'stored' }))
})

test('what a unit of work saw is known to others once it is joined', () => {
  const shared = seenRows()
  shared.keep(table, [at('a', 1)])
  const unit = seenRows(shared)
  unit.keep(table, [at('b', 1), at('a', 2)])
  expect(unit.find(table, at('a', 1))).toEqual(at('a', 1))
  expect(shared.find(table, at('b', 1))).toBeUndefined()
  shared.join(unit)
  expect(shared.find(table, at('b', 1))).toEqual(at('b', 1))
  expect(shared.find(table, at('a', 1))).toBeUndefined()
})

test('as many rows as there are never fill the memory', () => {
  const seen = seenRows()
  for (let made = 0; made < 2100; made++) seen.keep(table, [at(`${made}`, 1)])
  expect(seen.tables.get('orders')?.size).toBe(2000)
  expect(seen.find(table, at('99', 1))).toBeUndefined()
  expect(seen.find(table, at('2099', 1))).toEqual(at('2099', 1))
})
