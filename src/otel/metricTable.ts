/**
 * Every metric, with its unit (UCUM) and its labels. The instruments are created from this table, and `docs/alerts.md`
 * lists it. No label is an id, an address or a hash.
 */
export const metricTable = {
  'countersign.call.duration': {
    kind: 'histogram',
    unit: 's',
    labels: [
      'countersign.call',
      'countersign.outcome',
      'countersign.reason',
      'error.type',
    ],
    description: 'Time of a call, such as `capture` or `x402.answer`',
  },
  'countersign.send.duration': {
    kind: 'histogram',
    unit: 's',
    labels: ['countersign.chain_id'],
    description: 'Time until the node answered to the transactions of one poll',
  },
  'countersign.send.transactions': {
    kind: 'counter',
    unit: '{transaction}',
    labels: ['countersign.chain_id', 'countersign.outcome'],
    description: 'Transactions sent to the node, by its answer',
  },
  'countersign.send.replacements': {
    kind: 'counter',
    unit: '{transaction}',
    labels: ['countersign.chain_id', 'countersign.kind'],
    description: 'Transactions with a raised fee, and fillers',
  },
  'countersign.send.waits': {
    kind: 'counter',
    unit: '{wait}',
    labels: ['countersign.chain_id', 'countersign.reason'],
    description: 'Polls after which a submitter waits, by reason',
  },
  'countersign.webhook.duration': {
    kind: 'histogram',
    unit: 's',
    labels: [
      'countersign.target',
      'countersign.outcome',
      'countersign.reason',
      'http.response.status_code',
    ],
    description: 'Time of one delivery to a webhook target',
  },
  'countersign.failures': {
    kind: 'counter',
    unit: '{failure}',
    labels: ['countersign.part', 'error.type'],
    description: 'Failures of work that is tried again, and broken records',
  },
  'countersign.observations': {
    kind: 'counter',
    unit: '{observation}',
    labels: ['countersign.observation'],
    description: 'All other observations, by name',
  },
  'countersign.health.answered': {
    kind: 'gauge',
    unit: '1',
    labels: [],
    description:
      '1 if `health` answered; 0 if it failed or took 7 seconds: then the gauges below keep their last values',
  },
  'countersign.suspended': {
    kind: 'gauge',
    unit: '1',
    labels: [],
    description: '1 while the shop is suspended',
  },
  'countersign.order.count': {
    kind: 'gauge',
    unit: '{order}',
    labels: ['countersign.chain_id', 'countersign.state'],
    description: 'Orders in each state',
  },
  'countersign.chain.fault': {
    kind: 'gauge',
    unit: '1',
    labels: ['countersign.chain_id', 'countersign.fault'],
    description: '1 for each fault that the node has, 0 for the others',
  },
  'countersign.chain.block.age': {
    kind: 'gauge',
    unit: 's',
    labels: ['countersign.chain_id'],
    description: 'Age of the newest block, by the clock of this process',
  },
  'countersign.chain.lag': {
    kind: 'gauge',
    unit: '{block}',
    labels: ['countersign.chain_id'],
    description: 'Blocks that are not compared with the orders yet',
  },
  'countersign.submitter.fault': {
    kind: 'gauge',
    unit: '1',
    labels: ['countersign.chain_id', 'countersign.fault'],
    description: '1 for each fault that a submitter has, 0 for the others',
  },
  'countersign.submitter.balance': {
    kind: 'gauge',
    unit: '{coin}',
    labels: ['countersign.chain_id'],
    description: 'Lowest balance of a submitter, in whole coins of the chain',
  },
  'countersign.submitter.captures': {
    kind: 'gauge',
    unit: '{capture}',
    labels: ['countersign.chain_id'],
    description:
      'About how many captures that balance pays at the current gas price',
  },
  'countersign.submitter.unserved': {
    kind: 'gauge',
    unit: '{submitter}',
    labels: ['countersign.chain_id'],
    description: 'Submitters whose lease no worker holds',
  },
  'countersign.submitter.inflight': {
    kind: 'gauge',
    unit: '{transaction}',
    labels: ['countersign.chain_id'],
    description: 'Transactions on record that are in no block yet',
  },
  'countersign.submitter.fee_too_high': {
    kind: 'gauge',
    unit: '{order}',
    labels: ['countersign.chain_id'],
    description: 'Orders that wait for a fee below `policy.maxFee`',
  },
  'countersign.submitter.time_left': {
    kind: 'gauge',
    unit: 's',
    labels: ['countersign.chain_id'],
    description:
      'Time until the first window ends of the orders that wait to be sent; at most a day, also if none waits',
  },
  'countersign.put_aside.count': {
    kind: 'gauge',
    unit: '{task}',
    labels: ['countersign.chain_id'],
    description: 'Failed tasks that wait for their next try',
  },
  'countersign.put_aside.age': {
    kind: 'gauge',
    unit: 's',
    labels: ['countersign.chain_id'],
    description: 'Time since the first failure of the oldest of them',
  },
  'countersign.channel.withdrawals': {
    kind: 'gauge',
    unit: '{recipient}',
    labels: ['countersign.chain_id'],
    description:
      'Recipients with an announced withdrawal that takes what its channel owes',
  },
  'countersign.channel.uncovered': {
    kind: 'gauge',
    unit: '{channel}',
    labels: ['countersign.chain_id'],
    description: 'Channels whose deposit does not cover what they owe',
  },
  'countersign.channel.unclaimed.age': {
    kind: 'gauge',
    unit: 's',
    labels: ['countersign.chain_id'],
    description: 'Age of the oldest charge that is not claimed',
  },
  'countersign.channel.opening.age': {
    kind: 'gauge',
    unit: 's',
    labels: ['countersign.chain_id'],
    description: 'Age of the oldest deposit that is not credited',
  },
} as const

export type MetricName = keyof typeof metricTable

export type Label = (typeof metricTable)[MetricName]['labels'][number]

/** A value of a metric, and its labels before they are bounded. */
export type Measurement = {
  metric: MetricName
  value: number
  labels: Readonly<Partial<Record<Label, unknown>>>
}

/** Upper bounds of the buckets of all histograms, in seconds. */
export const bucketBounds: readonly number[] = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120,
]
