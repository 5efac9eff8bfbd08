import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import {
  classifyFailure,
  type FailureKind,
  isTemporary,
} from './classifyFailure.js'

const page = readFileSync(
  new URL('../../../docs/reads.md', import.meta.url),
  'utf8',
)
const documented = page
  .split('## What a failure means')[1]
  ?.split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, kind = '', temporary, statuses = '', codes = '', words = '']) => ({
    kind: kind.replaceAll('`', ''),
    temporary: temporary === 'yes',
    failures: [
      ...numbersIn(statuses).map((status) => ({ status, words: 'no' })),
      ...numbersIn(codes).map((code) => ({ code, words: 'no' })),
      ...[...words.matchAll(/`([^`]+)`/g)].map(([, text = '']) =>
        kind === '`unreachable`'
          ? { words: text }
          : { code: -32_000, words: text },
      ),
    ],
  }))

function numbersIn(cell: string): number[] {
  return (cell.match(/-?\d+/g) ?? []).map(Number)
}

const kinds: Record<FailureKind, true> = {
  unreachable: true,
  rateLimit: true,
  limit: true,
  unavailable: true,
  internal: true,
  timeout: true,
  headBehind: true,
  pruned: true,
  tooManyResults: true,
  rangeTooWide: true,
  unsupported: true,
  invalidParams: true,
  refused: true,
}

test('the guide has each kind of failure once', () => {
  const names = documented?.map(({ kind }) => kind)
  expect(names).toEqual(Object.keys(kinds))
})

test.each(documented ?? [])(
  'the guide and the table agree on $kind',
  ({ kind, temporary, failures }) => {
    expect(failures.length).toBeGreaterThan(0)
    for (const failure of failures) {
      expect([failure, classifyFailure(failure)]).toEqual([failure, kind])
      expect(isTemporary(failure)).toBe(temporary)
    }
  },
)

test.each([429, 500, 502, 503, 504, 520])(
  'HTTP %i is temporary whatever the body says',
  (status) => {
    for (const words of ['pruned history unavailable', 'range too wide'])
      for (const code of [undefined, -32_011, -32_602, 4444, 3])
        expect(
          isTemporary({ status, words, ...(code && { code }) }),
          `${code} ${words}`,
        ).toBe(true)
  },
)

test.each([
  'pruned history unavailable: requested 1, earliest available 2',
  'history is temporarily unavailable, try again',
  'block not found',
])('pruned history is gone for good whatever the words: %s', (words) => {
  expect(classifyFailure({ code: 4444, words })).toBe('pruned')
})

test.each([
  [-32602, 'invalid block range'],
  [-32602, 'invalid block range params'],
  [-32000, 'request beyond head block'],
  [-32000, 'block number exceeds latest block'],
  [-32000, 'requested to block 105 after last accepted block 103'],
  [-32019, 'block is out of range'],
  [-39001, 'Unknown block'],
  [-32000, '12345678 could not be found'],
  [-32001, '0x3e2b… could not be found'],
  [-32000, 'Latest could not be found'],
  [-32000, 'could not find block 12345678'],
  [-32000, 'cannot find header'],
  [-32000, 'Block 12345678 could not be found'],
  [-32602, "Block with such an ID doesn't exist yet"],
])('a block above the head is a replica behind: %d "%s"', (code, words) => {
  expect(classifyFailure({ code, words })).toBe('headBehind')
})

test.each([
  'invalid block range: exceeds the limit of 1000',
  'query exceeds max block range 100000',
])('a range that is too wide is no replica behind: %s', (words) => {
  expect(classifyFailure({ code: -32602, words })).toBe('rangeTooWide')
})

test.each([
  ['unsupported', 'Safe could not be found'],
  ['unsupported', 'Finalized could not be found'],
  ['refused', '0x12… receipt could not be found'],
] as const)('%s and no replica behind: %s', (kind, words) => {
  expect(classifyFailure({ code: -32000, words })).toBe(kind)
})

test('what a contract says is not what a node says', () => {
  const words = 'execution reverted: temporarily unavailable, try again'
  expect(isTemporary({ code: -32_000, words })).toBe(false)
  expect(isTemporary({ code: -32_603, words: 'x', data: '0x08c379a0' })).toBe(
    false,
  )
})
