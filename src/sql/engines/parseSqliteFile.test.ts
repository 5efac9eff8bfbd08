import { expect, test } from 'vitest'
import { parseSqliteFile } from './parseSqliteFile.js'

test.each([
  'postgres://user:password@db.example/shop',
  'postgresql+ssl://user:password@db.example/shop',
  'libsql://db.example?authToken=password',
  'FILE:shop.db?key=password',
])('the URL %s is refused, and not shown', (file) => {
  expect(() => parseSqliteFile({ file })).toThrow(
    /^The store needs the path of a file, not a URL\.$/,
  )
})

test.each(['', ':memory:', 'a\0b'])('%j is no path of a file', (file) => {
  expect(() => parseSqliteFile({ file })).toThrow(/needs the path of a file/)
})
