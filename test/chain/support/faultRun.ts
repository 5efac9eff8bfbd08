import type { DevChain } from 'countersign/devchain'
import type { Order, OrderEvent, OrdersHealth } from 'countersign/orders'
import { parseAbiItem } from 'viem'
import { getLogs } from 'viem/actions'
import { wait } from '../../../src/core/wait.js'
import { seededRandom } from '../../../src/testing/seededRandom.js'
import {
  type Fault,
  type FaultNode,
  faultKinds,
  startFaultNode,
} from './faultNode.js'
import { type FaultShop, openFaultShop } from './faultShop.js'

/** What one schedule came to. */
type FaultRun = {
  /** Everything that did not end as it should; empty where all is well. */
  problems: readonly string[]
  /** Looks at the head of the chain after the last wrong answer. */
  looks: number
  calls: ReadonlyMap<string, number>
  log: readonly string[]
}

/** Schedules that run at the same time: they wait more than they compute. */
const together = 4

/** Looks within which everything has to be over once the node is right again. */
const mostLooks = 1_500

/** Schedules of neighbouring seeds are others, however many are drawn. */
const seedStep = 4_099

/** One schedule to play again, as a failure prints it: a list of faults. */
const again = process.env.COUNTERSIGN_FAULTS

/**
 * Runs drawn schedules, or the one to play again, and returns the first that did not end well, if any:
 * its place, which redraws it, its faults and what went wrong.
 */
export async function runSchedules(
  chain: DevChain,
  other: DevChain,
  {
    count,
    seed,
    isDelegated = false,
  }: { count: number; seed: number; isDelegated?: boolean | undefined },
): Promise<unknown[]> {
  const run = (faults: readonly Fault[]) =>
    runFaults(chain, other, { faults, mostLooks, isDelegated })
  const clean = await run([])
  if (clean.problems.length > 0) return [{ faults: [], ...clean }]
  let next = 0
  const failed: unknown[] = []
  const runOn = async () => {
    while (next < (again ? 1 : count) && failed.length === 0) {
      const place = next++
      const faults = again
        ? (JSON.parse(again) as Fault[])
        : drawFaults(seed * seedStep + place, clean.calls)
      const { problems, log } = await run(faults).catch((error: unknown) => ({
        problems: [String(error)],
        log: [],
      }))
      if (problems.length > 0)
        failed.push({ place, faults: JSON.stringify(faults), log, problems })
    }
  }
  await Promise.all(Array.from({ length: together }, runOn))
  return failed
}

/** Draws one to three faults among the calls that a shop without them makes. */
function drawFaults(seed: number, calls: ReadonlyMap<string, number>): Fault[] {
  const random = seededRandom(seed)
  const below = (end: number) => Math.floor(random() * end)
  const methods = [...calls.keys()].sort()
  return Array.from({ length: 1 + below(3) }, () => {
    const method = methods[below(methods.length)] ?? ''
    return {
      method,
      at: 1 + below(calls.get(method) ?? 1),
      times: random() < 0.5 ? 1 : 2 + below(3),
      kind: faultKinds[below(faultKinds.length)] ?? 'error',
    }
  })
}

/**
 * Runs a shop over a node that answers wrongly as the schedule says, until all
 * of its orders are over, or too many looks have passed since the last fault.
 */
async function runFaults(
  chain: DevChain,
  other: DevChain,
  {
    faults,
    mostLooks,
    isDelegated,
  }: { faults: readonly Fault[]; mostLooks: number; isDelegated: boolean },
): Promise<FaultRun> {
  const node = startFaultNode(chain, other, faults)
  const shop = await openFaultShop(chain, node.connect, { isDelegated })
  try {
    await untilOver(shop, node, mostLooks)
    const looks = node.looks()
    await shop.stop()
    const problems = await findProblems(chain, shop)
    return { problems, looks, calls: node.calls, log: node.log }
  } finally {
    await shop.stop()
  }
}

/** Waits until all orders are decided and fulfilled, or for so many looks. */
export async function untilOver(
  shop: FaultShop,
  node: Pick<FaultNode, 'looks'>,
  mostLooks: number,
): Promise<void> {
  while (node.looks() < mostLooks) {
    const orders = await ordersOf(shop)
    const { events } = await shop.honest.events({ limit: 1_000 })
    if (orders.every((order) => isOver(order, shop, events))) return
    await wait(50)
  }
}

async function ordersOf({ honest }: FaultShop): Promise<readonly Order[]> {
  return (await honest.list({ limit: 200 })).orders
}

const finalStates = ['captured', 'canceled', 'expired']

function isOver(
  { id, state }: Order,
  { paid }: FaultShop,
  events: readonly OrderEvent[],
): boolean {
  const own = events.filter(({ orderId }) => orderId === id)
  const isFulfilled = own.some(({ type }) => type === 'fulfil')
  return finalStates.includes(state) && (isFulfilled || !paid.includes(id))
}

/** Events that tell a merchant of a loss, or of something to pay back. */
const alarms = [
  'consumed',
  'refundDue',
  'overpaid',
  'lossAfterFulfilment',
  'needsReview',
  'submitterShared',
  'unmatched',
]

/** Where orders, alarms and the chain are not as they should end. */
export async function findProblems(
  chain: DevChain,
  shop: FaultShop,
): Promise<string[]> {
  const orders = await ordersOf(shop)
  const { events } = await shop.honest.events({ limit: 1_000 })
  const paidTimes = await countPaid(chain, orders)
  const ofOrders = orders.flatMap((order) =>
    problemsOf(order, {
      shop,
      events: events.filter(({ orderId }) => orderId === order.id),
      paid: paidTimes.get(order.nonce) ?? 0,
    }),
  )
  const raised = events
    .filter(({ type }) => alarms.includes(type))
    .map(({ type, data }) => `event ${type} ${JSON.stringify(data)}`)
  await shop.honest.reconcile()
  const audit = await shop.honest.audit({ fromBlock: 0n })
  const found = ofOrders.concat(raised, audit.ok ? [] : ['audit is not ok'])
  if (found.length === 0) return found
  const told = events.map(
    ({ orderId, type, data }) => `${orderId} ${type} ${JSON.stringify(data)}`,
  )
  const health = await shop.honest.health()
  return [...found, ...told, ...asideOf(health)]
}

function problemsOf(
  { id, state, reason }: Order,
  {
    shop,
    events,
    paid,
  }: { shop: FaultShop; events: readonly OrderEvent[]; paid: number },
): string[] {
  const fulfilled = events.filter(({ type }) => type === 'fulfil').length
  const isPaid = shop.paid.includes(id)
  const wanted = isPaid || state === 'captured' ? 1 : 0
  const expected = isPaid
    ? ['captured']
    : shop.unpaid.includes(id)
      ? ['expired']
      : ['captured', 'canceled']
  return [
    ...(expected.includes(state) ? [] : [`${id} is ${state} (${reason})`]),
    ...(paid === wanted ? [] : [`${id} was paid ${paid} times`]),
    ...(isPaid && fulfilled !== 1
      ? [`${id} was fulfilled ${fulfilled} times`]
      : []),
  ]
}

const authorizationUsed = parseAbiItem(
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
)

async function countPaid(
  chain: DevChain,
  orders: readonly Order[],
): Promise<ReadonlyMap<string, number>> {
  const logs = await getLogs(chain.clients.public, {
    address: chain.token,
    event: authorizationUsed,
    args: {},
    fromBlock: 0n,
  })
  const counts = new Map<string, number>()
  for (const { nonce } of orders)
    counts.set(nonce, logs.filter(({ args }) => args.nonce === nonce).length)
  return counts
}

function asideOf({ submitters, destinations }: OrdersHealth): string[] {
  return [...submitters, ...destinations].flatMap(({ putAside }) =>
    putAside.map(({ what, reason }) => `put aside: ${what}, ${reason}`),
  )
}
