import { expect, test } from 'vitest'
import { neededFor } from './neededFor.js'

const statement = (text: string) => ({ text, bindings: [] })
const insertOrder = statement('insert into "orders" (id) values (1)')
const updateOrder = statement('update "orders" as kept set id = 2')
const removeNote = statement('delete from "notes" where key = 1')
const takeFence = statement('insert into leases select last from counters')
const countUp = statement('update counters set last = last + 1')

test.each([
  ['select * from "orders" where id = 1', [insertOrder, updateOrder]],
  ['select key from notes', [removeNote]],
  ['select * from orders, notes', [insertOrder, updateOrder, removeNote]],
  ['select * from order_notes', []],
])('%s needs what writes to its tables', (text, needed) => {
  const earlier = [insertOrder, removeNote, updateOrder]
  const found = neededFor(statement(text), earlier)
  expect(new Set(found)).toEqual(new Set(needed))
  // In their order.
  expect(found).toEqual(earlier.filter((one) => needed.includes(one)))
})

test('what an earlier statement depends on is needed, too', () => {
  const reading = statement('select fence from leases')
  expect(neededFor(reading, [countUp, takeFence])).toEqual([countUp, takeFence])
  expect(neededFor(reading, [takeFence, countUp])).toEqual([takeFence])
})

test('a statement of an unknown kind, and a look at the schema, need all', () => {
  const drop = statement('drop table notes')
  expect(neededFor(statement('select 1 from orders'), [drop])).toEqual([drop])
  const schema = statement('select name from sqlite_schema')
  expect(neededFor(schema, [insertOrder])).toEqual([insertOrder])
})
