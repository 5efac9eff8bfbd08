import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { startDevChain } from 'countersign/devchain'
import { afterAll, expect, test, vi } from 'vitest'
import { drawProgress as drawCaptures } from '../../../examples/demo/format.js'
import { findProblem, type LoadRun } from '../../../examples/demo/load.js'
import { createNarrator } from '../../../examples/demo/narrator.js'
import { openShop } from '../../../examples/demo/openShop.js'
import { readOptions } from '../../../examples/demo/options.js'
import { playStory } from '../../../examples/demo/playStory.js'
import type { Played, Run, Story } from '../../../examples/demo/types.js'
import { readBalances } from '../../../examples/demo/wallets.js'
import { drawProgress } from '../../../examples/reads/show.js'
import { startDatabase } from '../support/database.js'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const examples = readdirSync(`${root}/examples`).filter((name) =>
  name.endsWith('.ts'),
)

const chain = await startDevChain({ blockTime: 0 })
const shop = await openShop(chain)
afterAll(async () => {
  await shop.close()
  await chain.stop()
})

type Ended = { code: number | null; stdout: string; stderr: string }

/** Runs a program to its end; none may ever print a signature. */
async function run(
  file: string,
  args: readonly string[] = [],
  env: NodeJS.ProcessEnv = process.env,
): Promise<Ended> {
  const ended = await new Promise<Ended>((resolve) => {
    const all = ['--import', 'tsx', `examples/${file}`, ...args]
    const options = { cwd: root, env }
    const child = execFile(process.execPath, all, options, (_, ...output) => {
      const [stdout, stderr] = output
      resolve({ code: child.exitCode, stdout, stderr })
    })
  })
  expect(ended.stdout + ended.stderr).not.toMatch(/[\da-f]{130}/i)
  return ended
}

const runDemo = (...args: readonly string[]): Promise<Ended> =>
  run('demo/demo.ts', args)

async function runJson(
  ...args: readonly string[]
): Promise<{ code: number | null; stderr: string; document: Run }> {
  const { stdout, ...ended } = await runDemo('--json', ...args)
  return { ...ended, document: JSON.parse(stdout) }
}

/** A text without what differs from run to run. */
function settle(text: string): string {
  return text
    .replace(/0x[\da-f]{64}/g, '(hash)')
    .replace(/0x[\da-f]{40}/gi, '(address)')
    .replace(/0x[\da-f]{4}…[\da-f]{4}/g, '(hash)')
    .replace(/\d{10}n/g, '(time)')
    .replace(/blocks \d+ to \d+/g, 'blocks (range)')
    .replace(/block \d+/g, 'block (number)')
    .replace(/\d+ gas/g, '(amount) gas')
}

const outputs: readonly (readonly [string, string])[] = [
  [
    '1-sign.ts',
    `The merchant sends a draft of 429 bytes:
{
  from: '(address)',
  to: '(address)',
  value: 12500000n,
  validAfter: (time),
  validBefore: (time),
  nonce: '(hash)'
}
The payer signs a ReceiveWithAuthorization.
A page that expected 1.25 refuses: The payment's value must be 1250000, not 12500000.
`,
  ],
  [
    '2-verify.ts',
    `as signed                         ok at block (number)
for an order of 99.00             wrongAmount
with the value raised to match    wrongSigner
with the payer on the block list  payerBlocked
`,
  ],
  [
    '3-capture.ts',
    `Capture rejected: wrongSender ((address) is not the recipient (address)).
Captured 12.5 USDC:
  transaction (hash)
  block (number), log 1, safe
  (amount) gas, paid by the merchant
Capture rejected: consumed (FiatTokenV2: authorization is used or canceled).
`,
  ],
  [
    '4-cancel.ts',
    `The payment is canceled:
  transaction (hash)
  block (number), sent by the relayer
Capture rejected: consumed (FiatTokenV2: authorization is used or canceled).
`,
  ],
  [
    '5-explain.ts',
    `ok: the token would pay
wrongSigner: FiatTokenV2: invalid signature
  primaryType: TransferWithAuthorization was signed, not ReceiveWithAuthorization
wrongSigner: FiatTokenV2: invalid signature
  name: USDC was signed, not USD Coin
wrongSigner: FiatTokenV2: invalid signature
  version: 1 was signed, not 2
wrongSigner: FiatTokenV2: invalid signature
  signed by (address)
`,
  ],
  [
    '7-audit.ts',
    `(address), blocks (range)
  on chain      4 x  38.75
  of orders     3 x  37.50
  without order 0 x   0.00
  in (hash): 1.25 on chain, nothing on record
  chain and record differ
reconciled: 1 payment without an order
(address), blocks (range)
  on chain      4 x  38.75
  of orders     3 x  37.50
  without order 1 x   1.25
  chain and record agree
`,
  ],
]

test.concurrent.each(outputs)('%s prints what it shows', async (file, text) => {
  const { code, stdout, stderr } = await run(file)
  expect([code, settle(stdout), stderr]).toEqual([0, text, ''])
})

test.concurrent('6-reads.ts reads the past with progress and follows payments to safe', async () => {
  const { code, stdout, stderr } = await run('6-reads.ts')
  const [past = '', live = ''] = stdout.split(/^.* so far\n/m)
  const progress = past.trimEnd().split('\n')
  const shares = progress.map((line) => Number.parseInt(line, 10))
  const steps = [...live.matchAll(/^ +(\d) USDC {2}(\w+) +block \d+$/gm)]
  const stepsOf = (amount: string) =>
    steps.filter(([, it]) => it === amount).map(([, , step]) => step)

  expect([code, stderr]).toEqual([0, ''])
  expect(stdout).not.toContain('\r')
  expect(shares.length).toBeGreaterThan(8)
  expect(shares).toEqual([...shares].sort((a, b) => a - b))
  expect(progress.at(-1)).toMatch(/^100 % of \d+ blocks read, payments: 5$/)
  expect(stdout).toContain('\n5 payments of 50 USDC so far\n')
  for (const amount of ['1', '2', '3'])
    expect(stepsOf(amount)).toEqual(['preconfirmed', 'included', 'safe'])
  expect(live.trimEnd().split('\n')).toHaveLength(9)
})

test('a terminal gets one line that grows, and its end when all is read', () => {
  const draw = (done: bigint) =>
    drawProgress({ done, total: 60n, logs: 7 }, true)

  expect([draw(0n), draw(15n), draw(60n)]).toEqual([
    `\r${'░'.repeat(30)}   0 %  payments: 7`,
    `\r${'█'.repeat(7)}${'░'.repeat(23)}  25 %  payments: 7`,
    `\r${'█'.repeat(30)} 100 %  payments: 7\n`,
  ])
})

test.concurrent('8-orders.ts ships each order once its payment is safe', async () => {
  const { code, stdout, stderr } = await run('8-orders.ts')
  const lines = stdout.trimEnd().split('\n')
  const linesOf = (amount: string) =>
    lines.filter((line) => line.startsWith(`${amount} USDC: `))
  const steps = [
    'drafted',
    'accepted',
    'capturing',
    'captured',
    'finalityRaised',
  ]
  const all = [...steps, 'fulfil', 'now it is shipped']

  expect([code, stderr]).toEqual([0, ''])
  expect(lines).toHaveLength(2 * all.length)
  for (const amount of ['12.5', '5'])
    expect(linesOf(amount)).toEqual(all.map((it) => `${amount} USDC: ${it}`))
})

test('two workers on one PostgreSQL share the captures and leave nothing', async ({
  onTestFinished,
}) => {
  const TMPDIR = mkdtempSync(join(tmpdir(), 'countersign-test-'))
  onTestFinished(() => rmSync(TMPDIR, { recursive: true }))
  // The server may run as another user, who has to get through.
  chmodSync(TMPDIR, 0o755)
  const env = { ...process.env, TMPDIR, DATABASE_URL: '' }
  const { code, stdout, stderr } = await run('worker/main.ts', [], env)
  expect([code, stderr]).toEqual([0, ''])
  const sent = [...stdout.matchAll(/^worker \d +(\d+) +(\d+)$/gm)]
  const counts = sent.map(([, one, other]) => [Number(one), Number(other)])
  expect(counts).toHaveLength(2)
  for (const at of [0, 1])
    expect(counts.reduce((sum, row) => sum + (row[at] ?? 0), 0)).toBe(16)
  for (const [one = 0, other = 0] of counts)
    expect(one + other).toBeGreaterThan(0)
  expect(stdout.match(/has 16 USDC by 16 captures$/gm)).toHaveLength(2)
  expect(stdout).toContain('\nchain and record agree\n')
  expect(stdout.match(/^worker \d has stopped: exit code 0$/gm)).toHaveLength(2)
  expect(foldersIn(TMPDIR)).toEqual([])
  await expect(fetch(urlIn(stdout))).rejects.toThrow('fetch failed')
})

test('two workers without their database say so in a line each, and leave no node', async () => {
  const DATABASE_URL = 'postgres://shop@127.0.0.1:1/shop'
  const env = { ...process.env, DATABASE_URL }
  const { code, stdout, stderr } = await run('worker/main.ts', [], env)
  // Its processes say it too, if they get as far.
  const lines = new Set(stderr.trim().split('\n'))
  expect([code, [...lines]]).toEqual([
    1,
    [
      'worker: The store cannot reach its database (ECONNREFUSED).',
      'worker: connect ECONNREFUSED 127.0.0.1:1',
    ],
  ])
  await expect(fetch(urlIn(stdout))).rejects.toThrow('fetch failed')
})

test('every example is run here, listed, and 30 to 60 lines long', () => {
  const list = readFileSync(`${root}/examples/README.md`, 'utf8')
  const others = ['6-reads.ts', '8-orders.ts']
  expect(examples).toEqual([...outputs.map(([file]) => file), ...others].sort())
  for (const file of examples) {
    const lines = readFileSync(`${root}/examples/${file}`, 'utf8').split('\n')
    expect(lines.length).toBeGreaterThan(30)
    expect(lines.length).toBeLessThanOrEqual(61)
    expect(list).toContain(`\`npx tsx examples/${file}\``)
  }
})

test('examples and demo use the published entries and nothing inside', () => {
  const files = readdirSync(`${root}/examples`, {
    recursive: true,
    encoding: 'utf8',
  }).filter((file) => /\.tsx?$/.test(file) && !file.includes('node_modules'))
  const imports = files.flatMap((file) => {
    const text = readFileSync(`${root}/examples/${file}`, 'utf8')
    const names = [...text.matchAll(/(?:from|import) '([^']+)'/g)]
    return names.map(([, name = '']) => ({ file, name }))
  })
  const outside = imports.filter(
    ({ file, name }) =>
      name.startsWith('.') && join(dirname(file), name).startsWith('..'),
  )
  expect(outside).toEqual([])
  const modules = new Set(imports.map(({ name }) => name))
  const ours = [...modules].filter((name) => name.startsWith('countersign'))
  const { exports: map } = JSON.parse(
    readFileSync(`${root}/package.json`, 'utf8'),
  )
  const published = Object.keys(map).map((it) => it.replace('.', 'countersign'))
  expect(ours.filter((name) => !published.includes(name))).toEqual([])
  expect(ours.length).toBeGreaterThan(4)
})

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

test('captures are shown on one line that grows, sent being half of the way', () => {
  const draw = (sent: number, captured: number) =>
    drawCaptures({ sent, captured, total: 60 }, true)

  expect([draw(0, 0), draw(60, 0), draw(60, 60)]).toEqual([
    `\r   ${'░'.repeat(30)}   0 %  sent:  0  captured:  0`,
    `\r   ${'█'.repeat(15)}${'░'.repeat(15)}  50 %  sent: 60  captured:  0`,
    `\r   ${'█'.repeat(30)} 100 %  sent: 60  captured: 60\n`,
  ])
})

const load: Parameters<typeof findProblem>[0] = {
  ...{ amount: '1', count: 2, captured: 2 },
  balances: {
    before: { payers: 5_000_000n, merchant: 7n },
    after: { payers: 3_000_000n, merchant: 2_000_007n },
  },
  audit: {
    chain: { count: 2, value: 2_000_000n },
    captured: { count: 2, value: 2_000_000n },
    differences: [],
  },
}
const [hash, differing] = [`0x${'1'.repeat(64)}`, 2_000_001n] as const
test.each<[string, Partial<LoadRun>, string | undefined]>([
  ['as told', {}, undefined],
  ['with one too few', { captured: 1 }, '1 of 2 were captured'],
  [
    'with a unit too much at the payers',
    {
      balances: {
        ...load.balances,
        before: { payers: 5_000_001n, merchant: 7n },
      },
    },
    '2.000001 moved instead of 2',
  ],
  [
    'with a unit too much at the merchant',
    {
      balances: {
        ...load.balances,
        before: { payers: 5_000_000n, merchant: 6n },
      },
    },
    '2.000001 moved instead of 2',
  ],
  [
    'with a unit too much on chain',
    { audit: { ...load.audit, chain: { count: 2, value: differing } } },
    '2.000001 moved instead of 2',
  ],
  [
    'with a unit too much on record',
    { audit: { ...load.audit, captured: { count: 2, value: differing } } },
    '2.000001 moved instead of 2',
  ],
  [
    'with a difference',
    {
      audit: {
        ...load.audit,
        differences: [
          {
            ...{ transactionHash: hash, logIndex: 0, blockNumber: 1n },
            ...{ orderId: undefined, onChain: 1n, onRecord: undefined },
          },
        ],
      },
    },
    'chain and record differ in 1 places',
  ],
])('a load that ends %s is judged so', (_, part, problem) => {
  expect(findProblem({ ...load, ...part })).toBe(problem)
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

const still: Story = {
  id: 'still',
  title: 'Nothing happens',
  ends: { chain: 'unused', order: 'drafted' },
  play: async () => {
    const { order } = await shop.orders.draft({ amount: '1' })
    return { outcome: { status: 'unused' }, order }
  },
}
test.each<[string, Partial<Story>, string | undefined]>([
  ['as told', {}, undefined],
  [
    'with another outcome',
    { ends: { chain: 'expired', order: 'drafted' } },
    'unused on chain, drafted on record instead of expired on chain, drafted on record',
  ],
  [
    'with another record',
    { ends: { chain: 'unused', order: 'voided' } },
    'unused on chain, drafted on record instead of unused on chain, voided on record',
  ],
  [
    'with one unit too few',
    { moves: () => ({ merchant: 1n }) },
    'the balances are not as told',
  ],
])('a story that ends %s is judged so', async (_, part, problem) => {
  const story = { ...still, ...part }
  const told = { amount: '1', start: 0n, onStep: () => undefined }
  const played = await playStory(chain, { story, shop, ...told })
  expect(played.problem).toBe(problem)
  expect(played.asTold).toBe(problem === undefined)
})

test('the timeline is coloured only when asked', () => {
  const write = (colours: boolean): string => {
    const lines: string[] = []
    createNarrator({ print: (line) => lines.push(line), colours }).begin(still)
    return lines.join('\n')
  }
  expect(write(true)).toContain('\x1b[1m1. Nothing happens\x1b[0m')
  expect(write(false)).not.toContain('\x1b')
})

function ending({ id, outcome, order }: Played): (string | undefined)[] {
  return [id, outcome?.status, order?.state]
}

/** What programs of ours have left there. */
function foldersIn(folder: string): string[] {
  return readdirSync(folder).filter((name) => name.startsWith('countersign-'))
}

function urlIn(text: string): string {
  return /http:\/\/[\d.:]+/.exec(text)?.[0] ?? 'no address was printed'
}
