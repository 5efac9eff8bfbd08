import { expect, test } from 'vitest'
import type { ChannelsHealth } from '../channels/engine.js'
import type { OrdersHealth } from '../orders/index.js'
import { measureHealth } from './measureHealth.js'
import { metricTable } from './metricTable.js'

const [token, recipient] = ['0xaa', '0xbb'] as const
const now = 1_000_000_000
const aside = { what: 'finality', reason: 'NodeError', since: 999_940_000n }

type Destination = OrdersHealth['destinations'][number]
type Submitter = OrdersHealth['submitters'][number]

const destination = (changes: Partial<Destination> = {}): Destination => ({
  chainId: 10,
  token,
  recipient,
  counts: {},
  reconciledTo: 5n,
  lag: 1n,
  atRisk: 0n,
  servedUnpaid: 0n,
  putAside: [],
  ...changes,
})

const submitter = (changes: Partial<Submitter> = {}): Submitter => ({
  chainId: 10,
  account: recipient,
  balance: 10n ** 18n,
  gasPrice: 10n ** 9n,
  openTransactions: 0,
  feeTooHigh: 0,
  nextDeadline: undefined,
  nextNonce: 0,
  lease: { owner: 'a', thisInstance: true, until: 1n },
  putAside: [],
  fault: undefined,
  faultKind: undefined,
  ...changes,
})

const health = (changes: Partial<OrdersHealth> = {}): OrdersHealth => ({
  identity: 'x',
  suspended: false,
  sealKeys: {},
  chains: [
    {
      chainId: 10,
      block: 5n,
      time: 999_990n,
      fault: undefined,
      faultKind: undefined,
    },
  ],
  destinations: [destination()],
  submitters: [submitter()],
  ...changes,
})

/** Each value by its name and its labels besides the chain. */
const shown = (orders: OrdersHealth | undefined, channels?: ChannelsHealth) =>
  Object.fromEntries(
    measureHealth(orders && { orders, channels }, now).map(
      ({ metric, value, labels }) => {
        const { 'countersign.chain_id': _, ...rest } = labels
        return [[metric.slice(12), ...Object.values(rest)].join(' '), value]
      },
    ),
  )

test('without an answer, only that is shown', () => {
  expect(shown(undefined)).toEqual({ 'health.answered': 0 })
})

test('a shop in which all is well', () => {
  expect(shown(health())).toMatchObject({
    'health.answered': 1,
    suspended: 0,
    'order.count stored': 0,
    'chain.fault unreachable': 0,
    'chain.block.age': 10,
    'chain.lag': 1,
    'submitter.fault captureKey': 0,
    'submitter.balance': 1,
    'submitter.captures': 10_000,
    'submitter.unserved': 0,
    'submitter.time_left': 86_400,
    'put_aside.count': 0,
    'put_aside.age': 0,
  })
})

test('of several, the sum or the worst is shown', () => {
  const values = shown(
    health({
      suspended: true,
      destinations: [
        destination({ counts: { stored: 2, captured: 1 }, putAside: [aside] }),
        destination({ counts: { stored: 3 }, lag: 9n, putAside: [aside] }),
        destination({ chainId: 11, counts: { stored: 100 } }),
      ],
      submitters: [
        submitter({ openTransactions: 2, nextDeadline: 1_000_060n }),
        submitter({
          balance: 10n ** 15n,
          openTransactions: 3,
          feeTooHigh: 4,
          nextDeadline: 1_000_300n,
          lease: undefined,
          faultKind: 'captureKey',
          putAside: [{ ...aside, what: 'submitter', since: 999_990_000n }],
        }),
        submitter({ balance: undefined, faultKind: 'unreachable' }),
      ],
    }),
  )
  expect(values).toMatchObject({
    suspended: 1,
    'order.count stored': 5,
    'order.count captured': 1,
    'chain.lag': 9,
    'submitter.balance': 0.001,
    'submitter.captures': 10,
    'submitter.unserved': 1,
    'submitter.inflight': 5,
    'submitter.fee_too_high': 4,
    'submitter.time_left': 60,
    'submitter.fault captureKey': 1,
    'submitter.fault unreachable': 1,
    'submitter.fault timedOut': 0,
    // Both destinations show the same task of their chain.
    'put_aside.count': 2,
    'put_aside.age': 60,
  })
})

test('a node that does not answer has a fault, and no age of its block', () => {
  const [chain] = health().chains
  const away = { block: undefined, time: undefined, fault: 'no answer' }
  const values = shown(
    health({
      chains: chain ? [{ ...chain, ...away, faultKind: 'timedOut' }] : [],
      submitters: [submitter({ balance: undefined, gasPrice: undefined })],
    }),
  )
  expect(values).toMatchObject({ 'chain.fault timedOut': 1 })
  expect(values).not.toHaveProperty('chain.block.age')
  expect(values).not.toHaveProperty('submitter.balance')
})

test('a chain without a gas price can be paid', () => {
  const submitters = [submitter({ gasPrice: 0n })]
  expect(shown(health({ submitters }))).toMatchObject({
    'submitter.captures': 10 ** 13,
  })
})

const channels: ChannelsHealth = {
  ok: false,
  unclaimed: [],
  destinations: [
    {
      chainId: 10,
      token,
      recipient,
      channels: 3,
      unclaimed: 5n,
      unclaimedSince: 999_900n,
      owing: [],
      withdrawal: {
        channelId: '0xcc',
        unclaimed: 5n,
        finalizableAt: 1n,
        claim: 'none',
        inTime: false,
      },
      uncovered: ['0xcc', '0xdd'],
      opening: 0,
      openingSince: undefined,
    },
  ],
}

test('channels are shown if there are any', () => {
  expect(shown(health(), channels)).toMatchObject({
    'channel.withdrawals': 1,
    'channel.uncovered': 2,
    'channel.unclaimed.age': 100,
    'channel.opening.age': 0,
  })
})

test('every gauge of the table is measured, with its labels', () => {
  const measured = measureHealth({ orders: health(), channels }, now)
  const gauges = Object.entries(metricTable)
    .filter(([, { kind }]) => kind === 'gauge')
    .map(([name]) => name)
  expect(new Set(measured.map(({ metric }) => metric))).toEqual(new Set(gauges))
  for (const { metric, labels } of measured)
    expect(Object.keys(labels)).toEqual(metricTable[metric].labels)
})
