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
import { expect, test } from 'vitest'
import { drawProgress } from '../../../examples/reads/show.js'
import { foldersIn, root, run, urlIn } from '../../chain/support/runExample.js'

const examples = readdirSync(`${root}/examples`).filter((name) =>
  name.endsWith('.ts'),
)

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
    `Capture rejected: wrongSubmitter ((address) is not the recipient (address)).
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
  [
    '9-checkout.ts',
    `The payer signed at most 50.00; accepted: true.
36.60, and a tip that nobody knew when the payer signed:
  42.10: captured
A second capture, of the rest:
  7.90: rejected, otherAmount
The payer signed at most 50.00; accepted: true.
More than the ceiling:
  50.01: rejected, exceedsCeiling
After the payer canceled it:
  1.00: rejected, notOpen
`,
  ],
  [
    '10-subscription.ts',
    `Signed once: 10.00 every 30 days, for a year.
  period-1: paid
  period-2: paid
  period-3: paid
  period-4: insufficientFunds (subscriptionPastDue)
  period-4: insufficientFunds (subscriptionUnpaid)
The schedule gave up, and the merchant cancels:
  revoked on chain
3 charges paid; the books agree with the chain: true.
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

test('every example is run here, listed, and 30 to 90 lines long', () => {
  const list = readFileSync(`${root}/examples/README.md`, 'utf8')
  const others = ['6-reads.ts', '8-orders.ts']
  expect(examples).toEqual([...outputs.map(([file]) => file), ...others].sort())
  for (const file of examples) {
    const lines = readFileSync(`${root}/examples/${file}`, 'utf8').split('\n')
    expect(lines.length).toBeGreaterThan(30)
    expect(lines.length).toBeLessThanOrEqual(91)
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
  // The shop borrows the look of the product's pages, which no entry has.
  const isLook = (path: string) =>
    path.startsWith('../src/pages/ui/') || path === '../scripts/bundlePages.js'
  const outside = imports.filter(({ file, name }) => {
    const path = join(dirname(file), name)
    const isBorrowed = file.startsWith('shop/') && isLook(path)
    return name.startsWith('.') && path.startsWith('..') && !isBorrowed
  })
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
