import type { OrderState } from 'countersign/store'
import { erc20Abi, type Log, parseAbi } from 'viem'
import { getBlock, getLogs, readContract } from 'viem/actions'
import { carries } from '../../../src/store/movements.js'
import type {
  AttemptRecord,
  EventRecord,
  OrderRecord,
  ProofRecord,
  TransactionRecord,
} from '../../../src/store/types.js'
import type { Walk, WalkOrder, WalkShop } from './walkOperations.js'

const tokenEvents = parseAbi([
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
  'event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
])

type TokenLog = Awaited<ReturnType<typeof readTokenLogs>>[number]

/** Everything on record about an order, beside what the chain shows. */
type Comparison = {
  order: OrderRecord
  attempts: readonly AttemptRecord[]
  proofs: readonly ProofRecord[]
  transactions: readonly TransactionRecord[]
  events: readonly EventRecord[]
  /** What became of each attempt on chain. */
  fates: readonly Fate[]
  /** Unix seconds of the newest block. */
  now: bigint
  /** The walk is over, its windows too, and all of it is final. */
  isEnd: boolean
}

type Fate = {
  attempt: AttemptRecord
  is: 'captured' | 'canceled' | 'consumed' | 'unused'
  /** What moved the tokens. */
  transfer: Log | undefined
}

/** A rule that a record keeps: what is wrong about it, if anything. */
type Rule = (comparison: Comparison) => string | false

function readTokenLogs({ chain }: Walk, toBlock: bigint) {
  return getLogs(chain.clients.public, {
    address: chain.token,
    events: tokenEvents,
    fromBlock: 0n,
    toBlock,
    strict: true,
  })
}

async function readRows({ store, sold }: Walk) {
  const orderIds = sold.map(({ id }) => id)
  return store.read(async (tables) => ({
    orders: await tables.orders.find({ ids: orderIds }),
    attempts: await tables.attempts.find({ orderIds }),
    proofs: await tables.proofs.find({ orderIds }),
    transactions: await tables.transactions.find({ orderIds }),
    events: await tables.events.find({ orderIds }),
  }))
}

function fateOf(
  order: OrderRecord,
  attempt: AttemptRecord,
  { buyer }: WalkOrder,
  logs: readonly TokenLog[],
): Fate {
  const isKnown = (attempt.payer ?? order.payer) !== undefined
  const at = logs.findIndex(
    ({ eventName, args }) =>
      eventName !== 'Transfer' &&
      args.nonce === attempt.nonce &&
      args.authorizer === buyer.address,
  )
  const log = logs[at]
  const none = { attempt, transfer: undefined }
  if (!log) return { ...none, is: 'unused' }
  if (log.eventName === 'AuthorizationCanceled')
    return { ...none, is: isKnown ? 'canceled' : 'unused' }
  const next = logs[at + 1]
  const isPaid =
    next?.eventName === 'Transfer' &&
    next.transactionHash === log.transactionHash &&
    next.args.to.toLowerCase() === order.recipient &&
    next.args.value === order.value
  if (isPaid) return { attempt, is: 'captured', transfer: next }
  // Of a draft for anyone nobody knows whose nonce it is.
  return { ...none, is: isKnown ? 'consumed' : 'unused' }
}

function endOf({ validBefore, signedBefore, spendableUntil }: AttemptRecord) {
  const ends = [validBefore, signedBefore ?? 0n, spendableUntil ?? 0n]
  return ends.reduce((one, other) => (one > other ? one : other))
}

const stillOpen: readonly OrderState[] = [
  'drafted',
  'stored',
  'capturing',
  'canceling',
  'voided',
]

function allowedStates(comparison: Comparison): readonly OrderState[] {
  const { order, fates, now, isEnd } = comparison
  if (fates.some(({ is }) => is === 'captured')) return ['captured']
  const last = fates.find(({ attempt }) => attempt.number === order.attempt)
  // Nobody looks any more at what ended for good, and nothing can be captured.
  const given: readonly OrderState[] =
    order.finality === 'finalized' ? ['expired', 'voided'] : []
  if (last?.is === 'canceled') return ['canceled', ...given]
  if (last?.is === 'consumed') return ['consumed', ...given]
  if (last && now >= endOf(last.attempt)) return ['expired', 'voided']
  // A fork sets the clock back: what expired stays so until its end is final.
  return isEnd ? stillOpen : [...stillOpen, 'expired']
}

function countOf({ events }: Comparison, type: string): number {
  return events.filter((event) => event.type === type).length
}

/** The state that an order's events tell, one after the other. */
function replay(events: readonly EventRecord[]): OrderState | undefined {
  let state: OrderState | undefined
  for (const { type, data } of events) {
    if (type === 'accepted') state = 'stored'
    else if (type === 'reauthorized') state = renewed(state)
    else if (type === 'captureRejected' || type === 'cancelRejected')
      state = state && isSending(state) ? 'stored' : state
    else if (type === 'reorged') state = data.to as OrderState
    else if (isState(type) && !(type === 'canceling' && state === 'voided'))
      state = type
  }
  return state
}

/** The payment that is held stays so until the new one is accepted. */
function renewed(state: OrderState | undefined): OrderState {
  return state === 'stored' ? 'stored' : 'drafted'
}

function isSending(state: OrderState): boolean {
  return state === 'capturing' || state === 'canceling'
}

function isState(type: string): type is OrderState {
  const ends = ['captured', 'canceled', 'expired', 'consumed']
  return [...stillOpen, ...ends].includes(type)
}

function paymentsOf({ fates }: Comparison) {
  return fates.flatMap(({ transfer }) => transfer ?? [])
}

type Place = Pick<Log, 'transactionHash' | 'logIndex'>

function placesOf(list: readonly Place[]): string {
  return list
    .map(({ transactionHash, logIndex }) => `${transactionHash}:${logIndex}`)
    .sort()
    .join()
}

const rules: readonly Rule[] = [
  (comparison) => {
    const { order, fates } = comparison
    const allowed = allowedStates(comparison)
    return (
      !allowed.includes(order.state) &&
      `${order.state}, not ${allowed.join(' or ')}: ${fates.map(({ is }) => is)}`
    )
  },
  (comparison) => {
    const count = paymentsOf(comparison).length
    const { overpaid } = comparison.order
    return count > 1 !== overpaid && `overpaid ${overpaid}, paid ${count} times`
  },
  (comparison) => {
    const kept = comparison.proofs.filter(
      ({ kind, removed }) => kind === 'capture' && !removed,
    )
    const [is, shown] = [placesOf(kept), placesOf(paymentsOf(comparison))]
    return is !== shown && `proofs ${is}, not ${shown}`
  },
  (comparison) => {
    const { state, settledHash } = comparison.order
    const hashes = paymentsOf(comparison).map((log) => log.transactionHash)
    return (
      state === 'captured' &&
      !hashes.some((hash) => hash === settledHash) &&
      `settled by ${settledHash}, which did not pay it`
    )
  },
  (comparison) => {
    const ours = new Set(
      comparison.transactions.flatMap(({ kind, hash }) =>
        kind === 'capture' ? (hash ?? []) : [],
      ),
    )
    const payments = paymentsOf(comparison)
    const byUs = payments.filter(
      ({ transactionHash }) => transactionHash && ours.has(transactionHash),
    )
    return byUs.length > 1 && 'captured twice by its own shop'
  },
  ({ order, events }) => {
    const numbers = events.map(({ sequence }) => sequence)
    return (
      (numbers.length !== order.sequence ||
        numbers.some((number, at) => number !== at + 1)) &&
      `events ${numbers}, not 1 to ${order.sequence}`
    )
  },
  ({ order, events }) => {
    const told = replay(events)
    return told !== order.state && `${order.state}, but its events say ${told}`
  },
  (comparison) =>
    countOf(comparison, 'fulfil') > 1 && 'fulfilled more than once',
  (comparison) =>
    countOf(comparison, 'fulfil') > 0 &&
    comparison.order.unexpected &&
    'fulfilled although it was given up',
]

const endRules: readonly Rule[] = [
  (comparison) =>
    comparison.order.fulfilled !== undefined &&
    comparison.order.state !== 'captured' &&
    countOf(comparison, 'lossAfterFulfilment') === 0 &&
    'a loss that was not told',
  ({ order }) =>
    order.state === 'captured' &&
    !order.unexpected &&
    order.fulfilled === undefined &&
    'captured, never fulfilled',
  ({ order }) =>
    order.state !== 'voided' &&
    order.finality !== 'finalized' &&
    `${order.state} is ${order.finality}, not finalized`,
  ({ attempts, transactions }) =>
    (attempts.some((row) => row.signature ?? row.cancellation) ||
      transactions.some(({ raw }) => raw !== undefined)) &&
    'keeps a secret after its end',
]

async function auditProblem(
  { chain }: Walk,
  { orders, seller }: WalkShop,
  toBlock: bigint,
): Promise<string | false> {
  const [{ ok, destinations }, balance] = await Promise.all([
    orders.audit({ toBlock }),
    readContract(chain.clients.public, {
      address: chain.token,
      abi: erc20Abi,
      functionName: 'balanceOf',
      args: [seller.address],
    }),
  ])
  const isSame = destinations.every(
    ({ chain, captured, unmatched }) =>
      chain.value === balance && captured.value + unmatched.value === balance,
  )
  const text = JSON.stringify(destinations, (_, value) =>
    typeof value === 'bigint' ? String(value) : value,
  )
  return !(ok && isSame) && `audit with a balance of ${balance}: ${text}`
}

function compare(comparison: Comparison): string[] {
  const { order, attempts, events, isEnd } = comparison
  const types = events.map(({ type }) => type).join(' ')
  return [...rules, ...(isEnd ? endRules : [])].flatMap((rule) => {
    const problem = rule(comparison)
    return problem
      ? `${order.id}, ${attempts.length} attempts (${types}): ${problem}`
      : []
  })
}

/**
 * Where the record and the chain disagree right now: what the chain just did
 * may not be on record yet.
 */
export async function findProblems(
  walk: Walk,
  isEnd: boolean,
): Promise<string[]> {
  const client = walk.chain.clients.public
  const { number, hash, timestamp: now } = await getBlock(client)
  const rows = await readRows(walk)
  const logs = await readTokenLogs(walk, number)
  const problems = rows.orders.flatMap((order) => {
    const sold = walk.sold.find(({ id }) => id === order.id)
    if (!sold) return `${order.id}: sold by nobody`
    const isOf = ({ orderId }: { orderId: string | undefined }) =>
      orderId === order.id
    const attempts = rows.attempts.filter(isOf)
    return compare({
      order,
      attempts,
      now,
      isEnd,
      proofs: rows.proofs.filter(isOf),
      transactions: rows.transactions.filter((row) => carries(row, order.id)),
      events: rows.events
        .filter(isOf)
        .sort((one, other) => one.sequence - other.sequence),
      fates: attempts.map((attempt) => fateOf(order, attempt, sold, logs)),
    })
  })
  const audits = await Promise.all(
    walk.shops.map((shop) => auditProblem(walk, shop, number)),
  )
  const isLost = rows.orders.length < walk.sold.length
  if ((await getBlock(client)).hash !== hash) return ['the chain went on']
  return [...problems, ...audits, isLost && 'an order is lost'].flatMap(
    (problem) => problem || [],
  )
}
