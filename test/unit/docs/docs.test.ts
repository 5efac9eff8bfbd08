import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type {
  PaymentOutcome,
  RefusalReason,
  RejectionReason,
} from 'countersign'
import * as main from 'countersign'
import * as accelerate from 'countersign/accelerate'
import * as batches from 'countersign/batches'
import * as channels from 'countersign/channels'
import * as client from 'countersign/client'
import * as devchain from 'countersign/devchain'
import * as http from 'countersign/http'
import type {
  AcceptRefusal,
  CancellationVerdict,
  CaptureRefusal,
  CaptureResult,
  VoidVerdict,
} from 'countersign/orders'
import * as orders from 'countersign/orders'
import * as reads from 'countersign/reads'
import * as store from 'countersign/store'
import * as subscriptions from 'countersign/subscriptions'
import * as testing from 'countersign/testing'
import * as webhooks from 'countersign/webhooks'
import * as x402 from 'countersign/x402'
import { expect, test } from 'vitest'
import {
  drawPlot,
  drawSidePlot,
  sidePlots,
} from '../../../scripts/drawPlots.js'

const root = new URL('../../../', import.meta.url)
const readText = (path: string) => readFileSync(new URL(path, root), 'utf8')

const page = readText('docs/errors.md')

/** The rows of the tables between a heading and the next. */
function rowsOf(heading: string): string[][] {
  const [, section = ''] = page.split(`\n## ${heading}\n`)
  const lines = section.split('\n## ', 1)[0]?.split('\n') ?? []
  return lines
    .filter(
      (line, at) => /^\| /.test(line) && !/^\|-/.test(lines[at + 1] ?? ''),
    )
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )
}

const namesOf = (heading: string) =>
  rowsOf(heading).map(([name]) => name?.replaceAll('`', ''))

// Complete by type: a reason added to the union is an error here.
const refusals: Record<RefusalReason, true> = {
  malformedSignature: true,
  wrongChain: true,
  wrongToken: true,
  wrongPrimaryType: true,
  wrongNonce: true,
  wrongPayer: true,
  wrongRecipient: true,
  wrongOperator: true,
  selfPayment: true,
  windowTooLong: true,
  paused: true,
  payerBlocked: true,
  recipientBlocked: true,
  notYetValid: true,
  expired: true,
  consumed: true,
  wrongDomain: true,
  wrongSigner: true,
  walletNotDeployed: true,
  walletRejects: true,
  insufficientFunds: true,
  insufficientAllowance: true,
  unsupportedToken: true,
  checkoutNotDeployed: true,
  gasTooHigh: true,
  simulationFailed: true,
  wrongAmount: true,
  expiresTooSoon: true,
}

const rejections: Record<Exclude<RejectionReason, RefusalReason>, true> = {
  wrongSubmitter: true,
  unsimulatedWallet: true,
}

type Refused = Extract<
  CancellationVerdict | VoidVerdict,
  { ok: false }
>['reason']

/** What an order, its events and the result of a capture carry. */
type Rejected =
  | store.OrderReason
  | Extract<CaptureResult, { status: 'rejected' }>['reason']

const orderReasons: Record<
  Exclude<AcceptRefusal | CaptureRefusal | Refused | Rejected, RejectionReason>,
  true
> = {
  wrongWindow: true,
  exposureTooHigh: true,
  submitterFunds: true,
  noWallet: true,
  contractPayer: true,
  otherPayment: true,
  otherAmount: true,
  exceedsCeiling: true,
  permitOpen: true,
  tooManyTries: true,
  acceptInFlight: true,
  notOpen: true,
  captureInFlight: true,
  feeTooHigh: true,
  deadlinePassed: true,
  sealBroken: true,
  revoked: true,
  allowanceUsed: true,
  nothingToClaim: true,
  channelWithdrawn: true,
  unclaimedCharges: true,
  canceled: true,
  needsReview: true,
  replaced: true,
  signingDeclined: true,
  voided: true,
  walletRefused: true,
}

const delegationReasons: Record<batches.DelegationError['reason'], true> = {
  cannotSign: true,
  isContract: true,
  otherDelegate: true,
  unprovenCode: true,
  notApplied: true,
  timeout: true,
}

const captureKeyReasons: Record<batches.CaptureKeyError['reason'], true> = {
  undelegated: true,
  unproven: true,
  revoked: true,
  expired: true,
  paused: true,
  notRevoked: true,
  timeout: true,
}

const outcomes: Record<PaymentOutcome['status'], true> = {
  unused: true,
  captured: true,
  canceled: true,
  consumed: true,
  expired: true,
  unknown: true,
}

type AnyError = new (
  facts: object,
) => InstanceType<typeof main.CountersignError>

const classes = [
  main,
  reads,
  http,
  orders,
  store,
  webhooks,
  accelerate,
  batches,
  x402,
  channels,
  subscriptions,
  client,
  devchain,
  testing,
]
  .flatMap((entry) => Object.entries(entry))
  .filter(([, it]) => typeof it === 'function' && isError(it.prototype))
  .map(([name]) => name)

function isError(prototype: unknown): boolean {
  return prototype instanceof Error
}

test.each([
  ['Refusal reasons', Object.keys(refusals)],
  ['Rejection reasons', Object.keys(rejections)],
  ['Order reasons', Object.keys(orderReasons)],
  ['Delegation reasons', Object.keys(delegationReasons)],
  ['Capture key reasons', Object.keys(captureKeyReasons)],
  ['Outcomes', Object.keys(outcomes)],
  ['Error classes', classes],
])(
  '%s: each name has one row, and no row is without a name',
  (heading, names) => {
    expect(namesOf(heading).sort()).toEqual([...names].sort())
  },
)

test('refusal reasons stand in the order in which they win', () => {
  expect(namesOf('Refusal reasons')).toEqual(Object.keys(refusals))
})

test('the entries export their error classes', () => {
  expect(classes).toContain('CountersignError')
  expect(classes).toContain('AnvilNotFoundError')
})

test.each([
  'Refusal reasons',
  'Rejection reasons',
  'Order reasons',
  'Delegation reasons',
  'Outcomes',
  'Error classes',
])('%s: every row says what to do', (heading) => {
  const advice = rowsOf(heading).map((cells) => cells.at(-1) ?? '')

  expect(advice.length).toBeGreaterThan(1)
  expect(advice.filter((text) => text.length < 7)).toEqual([])
})

const differences = readText('test/chain/spec/README.md')
const topics =
  'service|message|signing|states|operations|events|errors|limits|difference|orders'

/** Names of spec tests, in code or in prose, between the given marks. */
const specTests = (text: string, open: string, close: string) =>
  [
    ...text.matchAll(
      RegExp(`${open}((?:${topics}), [^${close}]+)${close}`, 'g'),
    ),
  ].map(([, name = '']) => name)

const written = readdirSync(new URL('test/chain/spec', root)).flatMap((name) =>
  specTests(readText(`test/chain/spec/${name}`), "\\(\\s*'", "'"),
)

test('every test that the page of differences names exists', () => {
  const named = specTests(differences, '`', '`')

  expect(named.length).toBeGreaterThan(20)
  expect(
    named.filter((name) => !written.some((it) => it.startsWith(name))),
  ).toEqual([])
})

test('every test of a difference is named on the page of differences', () => {
  const tests = written.filter((name) => name.startsWith('difference, '))

  expect(tests.length).toBeGreaterThan(10)
  expect(
    tests.filter((name) => !differences.includes(`\`${name.split(': %s')[0]}`)),
  ).toEqual([])
})

/** Facts enough for any class; who takes positions does not mind. */
const facts = {
  failure: { words: '' },
  tried: [],
  reason: '',
  retryable: false,
}

test('the column of retryable says what the classes do', () => {
  const entries: Record<string, unknown> = {
    ...main,
    ...reads,
    ...http,
    ...orders,
    ...store,
    ...webhooks,
    ...accelerate,
    ...batches,
    ...x402,
    ...channels,
    ...subscriptions,
    ...client,
    ...devchain,
  }
  const rows = rowsOf('Error classes').filter(([, , cell]) =>
    /^(yes|no)$/.test(cell ?? ''),
  )

  expect(rows.length).toBeGreaterThan(20)
  for (const [name = '', , cell] of rows) {
    const Class = entries[name.replaceAll('`', '')] as AnyError
    expect([name, new Class(facts).retryable]).toEqual([name, cell === 'yes'])
  }
})

const pages = [
  ...['README.md', 'SECURITY.md', 'CONTRIBUTING.md', 'CHANGELOG.md'],
  'test/chain/spec/README.md',
  ...readdirSync(new URL('docs', root))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
]

test.each(pages)(
  '%s: every link into the repository leads somewhere',
  (path) => {
    const text = readText(path)
    const links = [...text.matchAll(/\]\((?!https?:)([^)]+)\)/g)]
    const broken = links.filter(([, link = '']) => !leadsSomewhere(link, path))
    expect(broken.map(([, link]) => link)).toEqual([])
  },
)

function leadsSomewhere(link: string, from: string): boolean {
  const { pathname, hash } = new URL(link, `file:///${from}`)
  const target = pathname.slice(1)
  if (!existsSync(new URL(target, root))) return false
  const anchors = [...readText(target).matchAll(/^#+ (.+)$/gm)].map(
    ([, heading = '']) =>
      `#${heading
        .toLowerCase()
        .replace(/[^\w\s-]/g, '')
        .replaceAll(' ', '-')}`,
  )
  return !hash || anchors.includes(hash)
}

test.each(pages.filter((path) => path !== 'CONTRIBUTING.md'))(
  '%s: every link leads to what ships in the package',
  (path) => {
    const { files } = JSON.parse(readText('package.json'))
    const shipped = [...files, 'README.md', 'LICENSE']
    const links = [...readText(path).matchAll(/\]\((?!\w+:|#)([^)#]+)/g)]
    const outside = links
      .map(([, link = '']) =>
        new URL(link, `file:///${path}`).pathname.slice(1),
      )
      .filter((to) => !shipped.includes(to.split('/')[0] ?? ''))
    expect(outside).toEqual([])
  },
)

test('the plot shows what the benchmark last measured, in both themes', () => {
  const picture = readText('docs/images/benchmark.svg')
  expect(picture).toBe(drawPlot(JSON.parse(readText('bench/results.json'))))
  expect(picture).toMatch(/role="img" aria-labelledby="title text"/)
  expect(picture).toContain('prefers-color-scheme: dark')
})

test.each(Object.keys(sidePlots))(
  'the plot %s shows what the benchmark last measured, and a guide shows it',
  (name) => {
    const results = JSON.parse(readText('bench/results.json'))
    const picture = readText(`docs/images/${name}.svg`)
    expect(picture).toBe(drawSidePlot(name, results))
    expect(picture).toContain('prefers-color-scheme: dark')
    expect(readText('docs/benchmarks.md')).toContain(`(images/${name}.svg)`)
  },
)
