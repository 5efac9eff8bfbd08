import type { Answers } from 'countersign/client'
import { expect, test } from 'vitest'
import type { BookOrder } from '../../../src/pages/merchant/applyEvent.js'
import { findHealthProblems } from '../../../src/pages/merchant/healthProblems.js'
import { findNeeds } from '../../../src/pages/merchant/needsPerson.js'

const stored = {
  id: 'one',
  state: 'stored',
  validBefore: '2000',
  refunds: [],
  refundable: '0',
  overpaid: false,
  unexpected: false,
  needsReview: false,
} as unknown as BookOrder

const whyOf = (changes: Partial<BookOrder>, now = 1_000) =>
  findNeeds([{ ...stored, ...changes }], now).map(({ why }) => why)

test('an order without problems needs nobody', () => {
  expect(whyOf({})).toEqual([])
  expect(whyOf({ state: 'captured' }, 1_900)).toEqual([])
  expect(whyOf({ requested: 'capture' }, 1_900)).toEqual([])
})

test.each([
  [{ overpaid: true }, 'It was paid twice: refund one payment.'],
  [
    { unexpected: true, refundable: '5' },
    'It was paid although you gave it up: refund it.',
  ],
  [{ needsReview: true }, 'Its payer needs a review before you capture.'],
  [
    { reason: 'feeTooHigh' as const },
    'Its capture was refused: see why, and capture again.',
  ],
  [{ isCancelKept: true }, 'The buyer asks to cancel: approve it, or capture.'],
])('an order with %o needs a person', (changes, why) => {
  expect(whyOf(changes)).toEqual([why])
})

test('an order whose window closes within five minutes comes after what costs more', () => {
  const late = { ...stored, id: 'late' }
  const twice = { ...stored, id: 'twice', overpaid: true }
  const needs = findNeeds([late, twice], 1_800)
  expect(needs.map(({ order }) => order.id)).toEqual(['twice', 'late'])
})

const well: Answers['Health'] = {
  suspended: false,
  sealKeys: {},
  chains: [{ chainId: 8453, block: '7' }],
  destinations: [],
  submitters: [],
} as unknown as Answers['Health']

test('a healthy shop has no problem', () => {
  expect(findHealthProblems(well)).toEqual([])
})

test('each problem says what to do', () => {
  const titles = findHealthProblems({
    ...well,
    suspended: true,
    chains: [{ chainId: 8453, fault: 'noSafeBlock' }],
    submitters: [
      {
        chainId: 8453,
        account: `0x${'17'.repeat(20)}`,
        openTransactions: 1,
        feeTooHigh: 2,
        nextNonce: 3,
        putAside: [{ what: 'sign:one', reason: 'SealError', since: '1' }],
      },
    ],
  } as unknown as Answers['Health'])
  expect(titles.map(({ title }) => title)).toEqual([
    'Sending is stopped.',
    'Chain 8453: its node has no safe block.',
    `Sending account 0x${'17'.repeat(20)} on chain 8453: no worker serves it.`,
    `Sending account 0x${'17'.repeat(20)} on chain 8453: network fees are too high for what waits.`,
    'Work on signing one failed and is tried again: SealError.',
  ])
  for (const { advice } of titles) expect(advice).toMatch(/\w{4}/)
})

test.each([
  ['one', 'one'],
  ['sign:one', 'one'],
  ['one\trefund-1', 'one'],
  ['sign:one\trefund-1', 'one'],
  ['revocation sub', undefined],
  [`0x${'ab'.repeat(32)}`, undefined],
])('the problem of %j leads to the page of order %s', (what, orderId) => {
  const [problem] = findHealthProblems({
    ...well,
    destinations: [{ putAside: [{ what, reason: 'NodeError', since: '1' }] }],
  } as unknown as Answers['Health'])
  expect(problem?.orderId).toBe(orderId)
  expect(problem?.title).not.toContain('\t')
})

test.each([
  'submitter',
  'batches',
  'watch',
  'head',
  'finality',
  'reorganizations',
  'expiry',
  'drafts',
  'reconciliation',
  'fulfilment',
  'finalityRaised',
  'refunds',
  'charges',
  'schedule',
  'settle nonce 7',
  'resend nonce 7',
  'replace nonce 7',
  'fill nonce 70',
])('the problem of %s, which concerns no order, leads nowhere', (what) => {
  const [problem] = findHealthProblems({
    ...well,
    destinations: [{ putAside: [{ what, reason: 'NodeError', since: '1' }] }],
  } as unknown as Answers['Health'])
  expect(problem?.orderId).toBeUndefined()
  expect(problem?.title).not.toContain(`Work on ${what}`)
})

test.each([
  ['sub', 'Work on subscription sub failed'],
  ['sign:sub', 'Work on signing subscription sub failed'],
  ['revocation sub', 'Looking for the revocation of subscription sub failed'],
])('the problem of %j leads to its subscription', (what, title) => {
  const entry = { what, subscriptionId: 'sub', reason: 'NodeError', since: '1' }
  const [problem] = findHealthProblems({
    ...well,
    destinations: [{ putAside: [entry] }],
  } as unknown as Answers['Health'])
  expect(problem).toMatchObject({ subscriptionId: 'sub' })
  expect(problem?.orderId).toBeUndefined()
  expect(problem?.title).toContain(title)
})
