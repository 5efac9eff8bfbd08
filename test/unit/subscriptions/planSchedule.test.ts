import type { SubscriptionRecord } from 'countersign/store'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { findPeriod } from '../../../src/subscriptions/permission/periodAt.js'
import type { SpendPermissionMessage } from '../../../src/subscriptions/permission/types.js'
import { planSchedule } from '../../../src/subscriptions/schedule/planSchedule.js'
import type {
  ChargeFate,
  ScheduleStep,
} from '../../../src/subscriptions/schedule/types.js'

const address = (digit: string) => `0x${digit.repeat(40)}` as const

const messageOf = (
  facts: Partial<SpendPermissionMessage> = {},
): SpendPermissionMessage => ({
  account: address('1'),
  spender: address('2'),
  token: address('3'),
  allowance: 10n,
  period: 100n,
  start: 1000n,
  end: 1300n,
  salt: 0n,
  extraData: '0x',
  ...facts,
})

const rowOf = (
  facts: Partial<SubscriptionRecord> = {},
): SubscriptionRecord => ({
  chainId: 8453,
  token: address('3'),
  recipient: address('2'),
  id: 'tea',
  version: 1,
  position: 1n,
  state: 'active',
  payer: address('1'),
  permission: {},
  price: 10n,
  period: 0n,
  chargeId: undefined,
  tries: 0,
  due: 0n,
  ...facts,
})

const policy = { retries: 2, retryAfter: 10n, margin: 20n }

const plan = (
  now: bigint,
  row: Partial<SubscriptionRecord> = {},
  fate?: ChargeFate,
): ScheduleStep =>
  planSchedule({ row: rowOf(row), message: messageOf(), fate, now, policy })

const refused = (
  reason: Extract<ChargeFate, { kind: 'refused' }>['reason'],
): ChargeFate => ({ kind: 'refused', reason })

const open = { chargeId: 'period-1', period: 1n }

test('nothing is charged before the first period', () => {
  expect(plan(999n)).toEqual({ row: rowOf({ due: 1000n }) })
})

test('the first second of a period charges it', () => {
  expect(plan(1100n, { period: 1n })).toEqual({
    row: rowOf({ period: 2n, chargeId: 'period-2', due: 1101n }),
    charge: { number: 2n, start: 1100n, end: 1200n },
  })
})

test('a paid period waits for the next one, and the last one for nothing', () => {
  const paid = { kind: 'paid' } as const
  const first = plan(1010n, { ...open, state: 'pastDue', tries: 1 }, paid)
  expect(first).toEqual({ row: rowOf({ period: 1n, due: 1100n }) })
  const last = plan(1210n, { chargeId: 'period-3', period: 3n }, paid)
  expect(last).toEqual({ row: rowOf({ period: 3n, due: undefined }) })
})

test('a period that ends within the margin is not charged, and that is reported', () => {
  expect(plan(1080n)).toEqual({
    row: rowOf({ period: 1n, state: 'pastDue', due: 1100n }),
    report: {
      type: 'subscriptionPastDue',
      period: 1n,
      reason: 'deadlinePassed',
    },
  })
  expect(plan(1079n).charge?.number).toBe(1n)
})

test('a period that no worker saw is reported, and only the current one is charged', () => {
  const { row, charge, report } = plan(1200n, { period: 1n })
  expect([row.period, row.state, charge?.number]).toEqual([3n, 'pastDue', 3n])
  expect(report?.period).toBe(2n)
})

test('while a charge is in flight, the next period is not charged', () => {
  const step = plan(1150n, open, { kind: 'sending' })
  expect(step).toEqual({ row: rowOf({ ...open, due: 1151n }) })
})

test('lack of funds is tried again by policy, and reported once', () => {
  const first = plan(1010n, open, refused('insufficientFunds'))
  expect(first).toEqual({
    row: rowOf({ ...open, state: 'pastDue', tries: 1, due: 1020n }),
    retryAt: 1020n,
    report: {
      type: 'subscriptionPastDue',
      period: 1n,
      reason: 'insufficientFunds',
    },
  })
  const again = plan(1021n, { ...first.row }, refused('insufficientFunds'))
  expect([again.retryAt, again.report]).toEqual([1031n, undefined])
})

test('after its retries, or with no time for another one, the schedule gives up and says so', () => {
  const given = { ...open, state: 'pastDue', tries: 2 } as const
  const gaveUp = {
    row: rowOf({ period: 1n, state: 'unpaid', due: undefined }),
    report: {
      type: 'subscriptionUnpaid',
      period: 1n,
      reason: 'insufficientFunds',
    },
  }
  expect(plan(1031n, given, refused('insufficientFunds'))).toEqual(gaveUp)
  expect(plan(1070n, open, refused('insufficientFunds'))).toEqual(gaveUp)
  expect(plan(1500n, { state: 'unpaid' })).toEqual({
    row: rowOf({ state: 'unpaid', due: undefined }),
  })
})

test('a revoked permission is never tried again', () => {
  const { row, report } = plan(1010n, open, refused('revoked'))
  expect([row.state, row.due, report?.reason]).toEqual([
    'unpaid',
    undefined,
    'revoked',
  ])
})

test.each(['allowanceUsed', 'deadlinePassed'] as const)(
  'after %s the next period is charged',
  (reason) => {
    const { row, report, retryAt } = plan(1030n, open, refused(reason))
    expect([row.state, row.due, retryAt]).toEqual(['pastDue', 1100n, undefined])
    expect(report).toEqual({ type: 'subscriptionPastDue', period: 1n, reason })
  },
)

test('a charge that ended unpaid makes room for the next period', () => {
  const over = { kind: 'over', isVoided: false } as const
  const { row, charge, report } = plan(1105n, open, over)
  expect([row.chargeId, charge?.number]).toEqual(['period-2', 2n])
  expect(report?.reason).toBe('expired')
  const voided = plan(1050n, open, { ...over, isVoided: true })
  expect(voided).toEqual({ row: rowOf({ period: 1n, due: 1100n }) })
})

test('without a price, the schedule does nothing', () => {
  const given = { price: undefined }
  expect(plan(1010n, given)).toEqual({
    row: rowOf({ ...given, due: undefined }),
  })
})

const fates: readonly ChargeFate[] = [
  { kind: 'sending' },
  { kind: 'paid' },
  refused('insufficientFunds'),
  refused('paused'),
  refused('allowanceUsed'),
  { kind: 'over', isVoided: false },
  { kind: 'over', isVoided: true },
]

const schedules = fc.record({
  message: fc
    .record({
      start: fc.bigInt(0n, 2n ** 34n),
      period: fc.oneof(fc.bigInt(1n, 100n), fc.bigInt(1n, 366n * 86_400n)),
      length: fc.oneof(fc.bigInt(1n, 1000n), fc.bigInt(1n, 2n ** 36n)),
    })
    .map(({ start, period, length }) =>
      messageOf({ start, period, end: start + length }),
    ),
  policy: fc.record({
    retries: fc.integer({ min: 0, max: 5 }),
    retryAfter: fc.option(fc.bigInt(1n, 200n), { nil: undefined }),
    margin: fc.bigInt(0n, 60n),
  }),
  looks: fc.array(
    fc.record({
      share: fc.bigInt(0n, 1500n),
      edge: fc.bigInt(-1n, 1n),
      fate: fc.constantFrom(...fates),
    }),
    { minLength: 1, maxLength: 40 },
  ),
})

test('on random schedules, every period is charged at most once, inside itself and one after the other', () => {
  fc.assert(
    fc.property(schedules, ({ message, policy: rules, looks }) => {
      const charged: bigint[] = []
      let row = rowOf()
      let now = message.start > 0n ? message.start - 1n : 0n
      for (const { share, edge, fate } of looks) {
        const next = now + (message.period * share) / 1000n + edge
        now = next > now ? next : now
        const isOpen = row.chargeId !== undefined
        const step = planSchedule({
          row,
          message,
          fate: isOpen ? fate : undefined,
          now,
          policy: rules,
        })
        if (step.charge) {
          expect(step.charge).toEqual(findPeriod(message, now))
          expect(now + rules.margin).toBeLessThan(step.charge.end)
          expect(isOpen && fate.kind === 'sending').toBe(false)
          charged.push(step.charge.number)
        }
        if (step.retryAt !== undefined) {
          const end = findPeriod(message, now)?.end ?? 0n
          expect(step.retryAt + rules.margin).toBeLessThan(end)
        }
        if (step.row.due !== undefined) expect(step.row.due > now).toBe(true)
        expect(step.row.period >= row.period).toBe(true)
        row = step.row
        if (row.state === 'unpaid') break
      }
      expect(charged).toEqual([...new Set(charged)])
      expect(charged).toEqual(
        [...charged].sort((one, other) => (one < other ? -1 : 1)),
      )
    }),
    { numRuns: process.env.COUNTERSIGN_FULL ? 10_000 : 500 },
  )
})
