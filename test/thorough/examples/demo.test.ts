import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { expect, test, vi } from 'vitest'
import { readOptions } from '../../../examples/demo/options.js'
import type { Played, Run } from '../../../examples/demo/types.js'
import { readBalances } from '../../../examples/demo/wallets.js'
import { startDatabase } from '../../chain/support/database.js'
import {
  chain,
  type Ended,
  foldersIn,
  root,
  run,
  shop,
  urlIn,
} from '../../chain/support/runExample.js'

const runDemo = (...args: readonly string[]): Promise<Ended> =>
  run('demo/demo.ts', args)

async function runJson(
  ...args: readonly string[]
): Promise<{ code: number | null; stderr: string; document: Run }> {
  const { stdout, ...ended } = await runDemo('--json', ...args)
  return { ...ended, document: JSON.parse(stdout) }
}

test('npm run demo prints a timeline, ends by itself and leaves no node', async () => {
  const child = spawn('npm', ['run', '--silent', 'demo'], { cwd: root })
  let stdout = ''
  child.stdout.on('data', (text) => {
    stdout += text
  })
  const [code] = await once(child, 'close')
  expect(code).toBe(0)
  expect(stdout).not.toContain('\x1b')
  expect(stdout).not.toMatch(/[\da-f]{130}/i)
  expect(stdout).toMatch(
    /\+\d\d:\d\d +merchant +captures the order +0x[\da-f]{4}…[\da-f]{4} +\d\d,\d{3}\n/,
  )
  expect(stdout).toMatch(/payer +10,000.00 +9,987.50 +-12.50\n/)
  expect(stdout).toMatch(/merchant +0.00 +12.50 +\+12.50\n/)
  expect(stdout).toContain('reverts: "FiatTokenV2: invalid signature"')
  expect(stdout).toMatch(/5 of 5 stories ended as told, in [\d.]+ s\n$/)
  await expect(fetch(urlIn(stdout))).rejects.toThrow('fetch failed')
})

test.concurrent('--crash kills a worker after it sent, and there is one transfer and the right record', async () => {
  const { code, stderr, document } = await runJson('--crash')
  const [story] = document.stories
  expect([code, stderr, document.asTold]).toEqual([0, '', true])
  expect(document.stories.map(ending)).toEqual([
    ['crash', 'captured', 'captured'],
  ])
  const sent = story?.steps.flatMap(({ transaction }) => transaction ?? [])
  expect(sent?.map(({ hash }) => hash)).toEqual([
    story?.order?.capture?.transactionHash,
  ])
  expect(story?.steps.at(-1)?.step).toBe(
    'counts: 1 transaction, 1 transfer, 1 record',
  )
})

test.concurrent('--load captures many orders on one account and proves it to the unit', async () => {
  const { code, stdout, stderr } = await runDemo('--load', '120')
  expect([code, stderr]).toEqual([0, ''])
  for (const control of ['\r', '\x1b']) expect(stdout).not.toContain(control)
  expect(stdout).toMatch(/^ +0 % {2}sent: {3}0 {2}captured: {3}0\n/m)
  expect(stdout).toMatch(/^ +100 % {2}sent: 120 {2}captured: 120\n/m)
  expect(stdout).toMatch(
    /120 captures in [\d.]+ s: \d+ a second, \d{1,2} HTTP requests in all, \d+ blocks?\n/,
  )
  expect(stdout).toMatch(/payers +1,500.00 +0.00 +-1,500.00\n/)
  expect(stdout).toMatch(/merchant +0.00 +1,500.00 +\+1,500.00\n/)
  expect(stdout).toMatch(/on chain +120 transfers of 1,500.00\n/)
  expect(stdout).toMatch(/on record +120 transfers of 1,500.00\n/)
  expect(stdout).toContain('✓ each order captured once')
})

test.concurrent('--batch compares captures one by one and in batches', async () => {
  const { code, stdout, stderr } = await runDemo('--batch', '40')
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout).toMatch(/one by one +40 captures in 40 transactions/)
  const [, sent, gas] =
    /in batches +40 captures in (\d+) transactions.* ([\d,]+) gas each/.exec(
      stdout,
    ) ?? []
  expect(Number(sent)).toBeLessThan(10)
  expect(Number(gas?.replace(',', ''))).toBeLessThan(70_000)
  expect(
    stdout.match(/3 not captured, at no cost: insufficientFunds/g),
  ).toHaveLength(2)
  expect(stdout).toContain('✓ each order captured once')
})

test('--database keeps the load in PostgreSQL and leaves nothing there', async () => {
  const database = await startDatabase()
  try {
    const url = await database.create('demo')
    const args = ['--load', '12', '--amount', '0.000001', '--database', url]
    const { stdout, stderr } = await runDemo('--json', ...args)
    const { store, captured, balances } = JSON.parse(stdout)
    expect([stderr, store, captured]).toEqual(['', 'PostgreSQL', 12])
    expect(balances.after).toEqual({ payers: '3', merchant: '12' })
    const schemas = await database.ask(
      "select nspname from pg_namespace where nspname like 'countersign%'",
      'demo',
    )
    expect(schemas).toEqual([])
  } finally {
    await database.stop()
  }
})

test.concurrent('--json prints one document of stories, steps, outcomes and balances', async () => {
  const { code, stderr, document } = await runJson()
  expect([code, stderr, document.asTold]).toEqual([0, '', true])
  expect(document.stories.map(ending)).toEqual([
    ['captured', 'captured', 'captured'],
    ['canceled', 'canceled', 'canceled'],
    ['expired', 'expired', 'drafted'],
    ['moved', 'unused', 'voided'],
    ['mismatched', 'unused', 'drafted'],
  ])
  const steps = document.stories.flatMap((story) => story.steps)
  const times = steps.map(({ time }) => time)
  expect(times).toEqual([...times].sort((a, b) => a - b))
  const sent = steps.flatMap(({ transaction }) => transaction ?? [])
  expect(sent.map(({ reverted }) => reverted)).toEqual([
    false,
    false,
    false,
    true,
  ])
  for (const { gasUsed } of sent)
    expect(Number(gasUsed)).toBeGreaterThan(21_000)
})

test.concurrent('--amount moves exactly that, to the last unit', async () => {
  const { code, document } = await runJson('--amount', '0.000001')
  const [captured, , , moved] = document.stories.map((story) => story.balances)
  expect(code).toBe(0)
  expect(captured).toEqual({
    before: { payer: '10000000000', merchant: '0', savings: '0' },
    after: { payer: '9999999999', merchant: '1', savings: '0' },
  })
  expect(moved?.after).toEqual({
    payer: '0',
    merchant: '1',
    savings: '10000000000',
  })
})

test.concurrent('--fork plays on a copy and leaves the forked chain alone', async () => {
  const before = await readBalances(chain, shop)
  const { code, document } = await runJson('--fork', chain.urls.http)
  expect([code, document.asTold, document.chainId]).toEqual([0, true, 31337])
  expect(document.token).toBe(chain.token)
  expect(document.stories[0]?.balances.before.payer).toBe('20000000000')
  expect(await readBalances(chain, shop)).toEqual(before)
})

test.concurrent('stories that do not end as told are named, and the demo fails', async () => {
  const { code, document } = await runJson('--amount', '999999999')
  expect([code, document.asTold]).toEqual([1, false])
  const told = document.stories.map(({ id, problem }) => [id, problem])
  const problem = 'expected true, got "insufficientFunds"'
  expect(told).toEqual([
    ['captured', problem],
    ['canceled', problem],
    ['expired', problem],
    ['moved', problem],
    ['mismatched', undefined],
  ])
})

test.concurrent.each([
  [['--colour'], "Unknown option '--colour'"],
  [['--json', '--fork', 'http://127.0.0.1:1'], 'anvil did not start'],
])('the demo ends at once for %j', async (args, problem) => {
  const { code, stdout, stderr } = await runDemo(...args)
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toContain(`demo: ${problem}`)
})

test.each([
  [['extra'], "Unexpected argument 'extra'"],
  [['--amount'], "Option '--amount <value>' argument missing"],
  [['--amount', '12.5000001'], 'not "12.5000001"'],
  [['--amount', '0'], 'not "0"'],
  [['--fork', 'nowhere'], '--fork takes the URL of a node'],
  [['--load', '0'], '--load takes a number of orders from 1 to 10000'],
  [['--load', 'many'], '--load takes a number of orders from 1 to 10000'],
  [['--load', '5', '--crash'], '--crash and --load are two demos'],
  [['--batch', '5', '--crash'], '--batch is a demo of its own'],
  [['--batch', '5', '--fork', 'http://127.0.0.1:1'], 'without --fork'],
  [['--load', '5', '--database', 'here'], '--database takes the URL'],
  [['--database', 'postgres://localhost/shop'], 'with --load'],
])('%j is an error that says why', (args, problem) => {
  expect(() => readOptions(args)).toThrow(problem)
})

test.concurrent('--help names every option', async () => {
  const { code, stdout } = await runDemo('--help')
  expect(code).toBe(0)
  const names = ['amount', 'crash', 'load', 'database', 'fork', 'json', 'help']
  for (const name of names) expect(stdout).toContain(`  --${name}`)
})

test.concurrent('an interrupted demo leaves no node and no orders', async ({
  onTestFinished,
}) => {
  const args = ['--import', 'tsx', 'examples/demo/demo.ts']
  const TMPDIR = mkdtempSync(join(tmpdir(), 'countersign-test-'))
  onTestFinished(() => rmSync(TMPDIR, { recursive: true }))
  const env = { ...process.env, TMPDIR }
  const child = spawn(process.execPath, args, { cwd: root, env })
  let stdout = ''
  for await (const text of child.stdout) {
    stdout += text
    if (stdout.includes('signs it')) child.kill('SIGINT')
  }
  // The node ends a moment after the program.
  await vi.waitFor(
    () => expect(fetch(urlIn(stdout))).rejects.toThrow('fetch failed'),
    60_000,
  )
  expect(stdout).not.toContain('stories ended as told')
  expect(foldersIn(TMPDIR)).toEqual([])
})

function ending({ id, outcome, order }: Played): (string | undefined)[] {
  return [id, outcome?.status, order?.state]
}
