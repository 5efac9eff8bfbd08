import { expect, test } from 'vitest'
import type { Observation } from '../core/observeFailure.js'
import { measureObservation } from './measureObservation.js'
import { metricTable } from './metricTable.js'

const account = `0x${'ab'.repeat(20)}`
const at = { chainId: 8453, account }

const cases: readonly [Observation, readonly [string, number, object][]][] = [
  [
    {
      name: 'orders.capture',
      duration: 1500,
      attributes: { ok: true, status: 'captured' },
    },
    [
      [
        'call.duration',
        1.5,
        { 'countersign.call': 'capture', 'countersign.outcome': 'captured' },
      ],
    ],
  ],
  [
    {
      name: 'orders.accept',
      duration: 20,
      attributes: { ok: false, reason: 'insufficientFunds' },
    },
    [
      [
        'call.duration',
        0.02,
        {
          'countersign.call': 'accept',
          'countersign.outcome': 'refused',
          'countersign.reason': 'insufficientFunds',
        },
      ],
    ],
  ],
  [
    {
      name: 'orders.subscriptions.charge',
      duration: 20,
      attributes: { ok: false, error: 'NodeError' },
    },
    [
      [
        'call.duration',
        0.02,
        {
          'countersign.call': 'subscriptions.charge',
          'countersign.outcome': 'failed',
          'error.type': 'NodeError',
        },
      ],
    ],
  ],
  [
    {
      name: 'submitter.sent',
      duration: 30,
      attributes: { ...at, sent: 4, known: 1 },
    },
    [
      ['send.duration', 0.03, { 'countersign.chain_id': 8453 }],
      [
        'send.transactions',
        4,
        { 'countersign.chain_id': 8453, 'countersign.outcome': 'sent' },
      ],
      [
        'send.transactions',
        1,
        { 'countersign.chain_id': 8453, 'countersign.outcome': 'known' },
      ],
    ],
  ],
  [
    {
      name: 'submitter.replaced',
      attributes: { ...at, nonce: 7, kind: 'filler' },
    },
    [
      [
        'send.replacements',
        1,
        { 'countersign.chain_id': 8453, 'countersign.kind': 'filler' },
      ],
    ],
  ],
  [
    {
      name: 'submitter.waits',
      attributes: { ...at, reason: 'insufficientFunds' },
    },
    [
      [
        'send.waits',
        1,
        {
          'countersign.chain_id': 8453,
          'countersign.reason': 'insufficientFunds',
        },
      ],
    ],
  ],
  [
    {
      name: 'webhook.failed',
      duration: 40,
      attributes: {
        target: 'warehouse',
        type: 'captured',
        orderId: 'a',
        tries: 2,
        status: 500,
        reason: 'statusRefused',
      },
    },
    [
      [
        'webhook.duration',
        0.04,
        {
          'countersign.target': 'warehouse',
          'countersign.outcome': 'failed',
          'countersign.reason': 'statusRefused',
          'http.response.status_code': 500,
        },
      ],
    ],
  ],
  [
    {
      name: 'x402.channel.failed',
      attributes: { channelId: '0x1', error: 'SealError', words: 'broken' },
    },
    [
      [
        'failures',
        1,
        { 'countersign.part': 'x402.channel', 'error.type': 'SealError' },
      ],
    ],
  ],
  [
    { name: 'outbox.full', attributes: { target: 'warehouse', orders: 9 } },
    [['observations', 1, { 'countersign.observation': 'outbox.full' }]],
  ],
]

test.each(cases)('%o is measured', (observation, expected) => {
  expect(measureObservation(observation)).toEqual(
    expected.map(([name, value, labels]) => ({
      metric: `countersign.${name}`,
      value,
      labels,
    })),
  )
})

test('all that is measured has a row in the table, with its labels', () => {
  for (const [observation] of cases)
    for (const { metric, labels } of measureObservation(observation)) {
      const known: readonly string[] = metricTable[metric].labels
      expect(known).toEqual(expect.arrayContaining(Object.keys(labels)))
    }
})
