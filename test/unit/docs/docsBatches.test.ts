import { readFileSync } from 'node:fs'
import * as batches from 'countersign/batches'
import { expect, test } from 'vitest'
import { knownDelegates } from '../../../src/core/knownDelegates.js'

const page = readFileSync('docs/batches.md', 'utf8')

/** The first cells of the table under a head. */
function rowsUnder(head: string): string[] {
  const [, table = ''] = page.split(`\n| ${head} |`)
  const [rows = ''] = table.split('\n\n', 1)
  return [...rows.matchAll(/^\| `(\w+)`/gm)].map(([, name = '']) => name)
}

test('every function of countersign/batches has one row', () => {
  const functions = Object.keys(batches).filter((name) => /^[a-z]/.test(name))
  expect(rowsUnder('Function | Does').sort()).toEqual(functions.sort())
})

test('every known delegate has one row, which says its version', () => {
  const head =
    'Delegate | Known by | Failed calls | Gas a capture, of 10 / of 50'
  const names = knownDelegates.map(({ name }) => name)
  expect(rowsUnder(head)).toEqual(names)
  for (const { name, version } of knownDelegates)
    expect(page).toMatch(new RegExp(`\\| \`${name}\`: [^|]* ${version}`))
})
