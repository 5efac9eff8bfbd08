import { expect, test } from 'vitest'
import { NodeError } from '../../../src/chain/rpc/errors.js'
import { describeFailure } from '../../../src/cli/terminal/describeFailure.js'
import { UsageError } from '../../../src/cli/terminal/errors.js'
import { createPrinter } from '../../../src/cli/terminal/print.js'
import { openProgress } from '../../../src/cli/terminal/progress.js'
import type { CliIo } from '../../../src/cli/terminal/types.js'
import { InvalidFieldError } from '../../../src/core/errors.js'
import { StoreError } from '../../../src/store/errors.js'

function openIo(changes: Partial<CliIo> = {}) {
  let text = ''
  const write = (more: string) => {
    text += more
  }
  const io: CliIo = {
    stdin: (async function* () {})(),
    stdout: { write },
    stderr: { write },
    env: {},
    cwd: '/',
    isTerminal: true,
    isErrorTerminal: true,
    packageFolder: '/',
    untilInterrupted: async () => undefined,
    load: async () => ({}),
    ...changes,
  }
  return { io, printed: () => text }
}

test.each([
  [true, {}, '\u001b[31mfail\u001b[0m'],
  [true, { NO_COLOR: '' }, '\u001b[31mfail\u001b[0m'],
  [true, { NO_COLOR: '1' }, 'fail'],
  [false, {}, 'fail'],
])('on a terminal: %s, with %j', (isTerminal, env, text) => {
  expect(createPrinter(openIo({ isTerminal, env }).io).bad('fail')).toBe(text)
})

test('a table has columns, and JSON has decimal strings', () => {
  const { io, printed } = openIo()
  const print = createPrinter(io)
  print.table([
    ['a', 'long name'],
    ['longer', 'b'],
  ])
  print.json({ value: 12n })
  expect(printed()).toBe('a       long name\nlonger  b\n{"value":"12"}\n')
})

test('what is longer than a hash is never written', () => {
  const { io, printed } = openIo()
  const hash = `0x${'ab'.repeat(32)}`
  createPrinter(io).json({ hash, id: `0x${'cd'.repeat(65)}` })
  expect(printed()).toBe(`{"hash":"${hash}","id":"0x…"}\n`)
})

test('a progress bar is for terminals', () => {
  const { io, printed } = openIo({ isErrorTerminal: false })
  const silent = openProgress(io)
  silent.show(0.5)
  silent.end()
  expect(printed()).toBe('')
  const shown = openIo()
  openProgress(shown.io).show(0.5)
  expect(shown.printed()).toContain('50 %')
})

const key = 'ab'.repeat(32)
const failure = { words: 'no connection' }

test.each([
  [new UsageError('Name one.'), 2, 'Name one.'],
  [new InvalidFieldError('orderId', 7, 'a text'), 2, 'orderId must be a text'],
  [new NodeError({ method: 'eth_call', failure }), 3, 'eth_call failed'],
  [new StoreError('is away', true), 3, 'The store is away.'],
  [new StoreError('is old'), 1, 'The store is old.'],
  [new Error(`key ${key}`), 1, 'Error: key 0x…'],
  [Object.assign(new Error('x'), { name: `E${key}` }), 1, 'Error: x'],
  [`0x${key}`, 1, 'Error: unknown error'],
])('%s has its exit code', (error, code, words) => {
  const told = describeFailure(error)
  expect(told.code).toBe(code)
  expect(told.text).toContain(words)
  expect(told.text).not.toContain(key)
})
