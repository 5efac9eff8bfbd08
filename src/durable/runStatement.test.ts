import { expect, test } from 'vitest'
import { durableDialect } from './durableDialect.js'
import { toStatement } from './runStatement.js'

test('an integer that a number cannot hold is passed as text', () => {
  const parameters = [9_007_199_254_740_991n, 9_007_199_254_740_993n, -2n]
  expect(toStatement({ sql: 'select ?, ?, ?', parameters }).bindings).toEqual([
    9_007_199_254_740_991,
    '9007199254740993',
    -2,
  ])
})

test('a value that SQLite would silently turn into text is refused', () => {
  for (const value of [true, undefined, 0.5, {}])
    expect(() => toStatement({ sql: 'select ?', parameters: [value] })).toThrow(
      'SQLITE_MISMATCH',
    )
})

test('the clock becomes the time, so that a statement can run again', () => {
  const before = Date.now()
  const { text } = toStatement({
    sql: `select ${durableDialect.clock} as now`,
    parameters: [],
  })
  const [, now] = /^select (\d+) as now$/.exec(text) ?? []
  expect(Number(now)).toBeGreaterThanOrEqual(before)
})

test('100 parameters stay as they are, 101 are packed into one', () => {
  const last = Uint8Array.of(1, 255)
  const parameters = [...Array.from({ length: 99 }, (_, at) => at), last]
  const marks = (count: number) => Array.from({ length: count }, () => '?')
  const few = { sql: `values (${marks(100)})`, parameters }
  expect(toStatement(few)).toEqual({ text: few.sql, bindings: parameters })

  const many = {
    sql: `select '?' as "?", ${marks(101)}`,
    parameters: ['text', ...parameters],
  }
  const { text, bindings } = toStatement(many)
  expect(text).toMatch(/^select '\?' as "\?", \(\?1 ->> 0\),/)
  expect(text).toMatch(/\(\?1 ->> 99\),unhex\(\?1 ->> 100\)$/)
  expect(bindings).toEqual([
    JSON.stringify(['text', ...parameters.slice(0, -1), '01ff']),
  ])
})
