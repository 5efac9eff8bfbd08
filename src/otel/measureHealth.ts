import type { NodeFault } from '../orders/engine.js'
import type { OrdersHealth } from '../orders/index.js'
import type { OrderState } from '../store/types.js'
import { ageOf, gauges, greatest, leastOf, sum } from './gauges.js'
import { measureChannels } from './measureChannels.js'
import type { Measurement } from './metricTable.js'
import type { ShopHealth } from './types.js'

/** Gas that one capture of USDC uses, rounded up. */
const captureGas = 100_000

const weiPerCoin = 1e18

/** No order in any state, so that each state has a series from the start. */
const noOrders: Readonly<Record<OrderState, number>> = {
  drafted: 0,
  stored: 0,
  capturing: 0,
  canceling: 0,
  captured: 0,
  voided: 0,
  canceled: 0,
  expired: 0,
  consumed: 0,
}

const faults: Readonly<Record<NodeFault, true>> = {
  unreachable: true,
  timedOut: true,
  rateLimited: true,
  refused: true,
  malformedAnswer: true,
  noSafeBlock: true,
  behindDatabase: true,
  otherChain: true,
  walletRemoved: true,
  captureKey: true,
}

/** The most seconds that are shown until a window ends. */
const mostTimeLeft = 86_400

/**
 * Returns the gauges of a shop's state. What a chain has several of, such as
 * submitters, becomes one value: the sum, or that of the worst.
 *
 * @param health `undefined` if it could not be read.
 * @param now Unix milliseconds.
 */
export function measureHealth(
  health: ShopHealth | undefined,
  now: number,
): readonly Measurement[] {
  const answered = gauges({}, { 'countersign.health.answered': health ? 1 : 0 })
  if (!health) return answered
  const { orders, channels } = health
  return [
    ...answered,
    ...gauges({}, { 'countersign.suspended': orders.suspended ? 1 : 0 }),
    ...orders.chains.flatMap((chain) => [
      ...measureChain(orders, chain, now),
      ...measureSubmitters(orders, chain.chainId, now),
      ...measureAside(orders, chain.chainId, now),
    ]),
    ...(channels ? measureChannels(channels, now) : []),
  ]
}

function measureChain(
  { destinations }: OrdersHealth,
  { chainId, time, faultKind }: OrdersHealth['chains'][number],
  now: number,
): Measurement[] {
  const labels = { 'countersign.chain_id': chainId }
  const own = destinations.filter((one) => one.chainId === chainId)
  const counts = { ...noOrders }
  for (const one of own)
    for (const [state, count] of Object.entries(one.counts))
      counts[state as OrderState] += count
  return [
    ...Object.entries(counts).flatMap(([state, count]) =>
      gauges(
        { ...labels, 'countersign.state': state },
        { 'countersign.order.count': count },
      ),
    ),
    ...measureFaults('countersign.chain.fault', labels, [faultKind]),
    ...gauges(labels, {
      'countersign.chain.block.age':
        time === undefined ? undefined : ageOf(Number(time) * 1000, now),
      'countersign.chain.lag': greatest(
        own.flatMap(({ lag }) => (lag === undefined ? [] : Number(lag))),
      ),
    }),
  ]
}

function measureSubmitters(
  { submitters }: OrdersHealth,
  chainId: number,
  now: number,
): Measurement[] {
  const labels = { 'countersign.chain_id': chainId }
  const own = submitters.filter((one) => one.chainId === chainId)
  const funded = own.flatMap(({ balance, gasPrice }) =>
    balance === undefined || gasPrice === undefined
      ? []
      : { wei: Number(balance), gasPrice: Math.max(1, Number(gasPrice)) },
  )
  const times = own.flatMap(({ nextDeadline }) =>
    nextDeadline === undefined ? [] : Number(nextDeadline) - now / 1000,
  )
  return [
    ...measureFaults(
      'countersign.submitter.fault',
      labels,
      own.map(({ faultKind }) => faultKind),
    ),
    ...gauges(labels, {
      'countersign.submitter.balance': leastOf(
        funded.map(({ wei }) => wei / weiPerCoin),
      ),
      'countersign.submitter.captures': leastOf(
        funded.map(({ wei, gasPrice }) =>
          Math.floor(wei / (captureGas * gasPrice)),
        ),
      ),
      'countersign.submitter.unserved': own.filter(({ lease }) => !lease)
        .length,
      'countersign.submitter.inflight': sum(
        own.map(({ openTransactions }) => openTransactions),
      ),
      'countersign.submitter.fee_too_high': sum(
        own.map(({ feeTooHigh }) => feeTooHigh),
      ),
      'countersign.submitter.time_left': leastOf([mostTimeLeft, ...times]),
    }),
  ]
}

/**
 * Counts failed tasks. Several recipients and tokens of a chain show the same
 * task if it concerns them all.
 */
function measureAside(
  { destinations, submitters }: OrdersHealth,
  chainId: number,
  now: number,
): Measurement[] {
  const tasks = new Map(
    [...destinations, ...submitters]
      .filter((one) => one.chainId === chainId)
      .flatMap(({ putAside }) => putAside)
      .map(({ what, since }) => [`${since} ${what}`, Number(since)]),
  )
  const oldest = leastOf([...tasks.values()])
  return gauges(
    { 'countersign.chain_id': chainId },
    {
      'countersign.put_aside.count': tasks.size,
      'countersign.put_aside.age':
        oldest === undefined ? 0 : ageOf(oldest, now),
    },
  )
}

/**
 * Returns a value for each fault that there can be. The SDK keeps the last value
 * of a series, so a fault that is over must become 0.
 */
function measureFaults(
  metric: 'countersign.chain.fault' | 'countersign.submitter.fault',
  labels: Measurement['labels'],
  found: readonly (NodeFault | undefined)[],
): Measurement[] {
  return Object.keys(faults).flatMap((fault) => {
    const isFound = found.some((kind) => kind === fault)
    return gauges(
      { ...labels, 'countersign.fault': fault },
      { [metric]: isFound ? 1 : 0 },
    )
  })
}
