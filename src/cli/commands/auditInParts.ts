import { getHeads } from '../../chain/state/getHeads.js'
import {
  auditOrders,
  clientOf,
  findFirstBlock,
  type OrdersContext,
} from '../../orders/engine.js'
import type { AuditReport, AuditSum } from '../../orders/index.js'
import type { OpenedShop } from '../terminal/openShop.js'

/**
 * Blocks to audit. By default from the first block that can contain a payment
 * of the shop to the newest block.
 */
type GivenRange = {
  fromBlock?: bigint | undefined
  toBlock?: bigint | undefined
}

type BlockRange = { fromBlock: bigint; toBlock: bigint }

/** Most parts of a range. The progress bar advances by one after each. */
const mostParts = 20n

/**
 * Fewest blocks of a part. Each part needs requests of its own, so smaller
 * parts would cost more than they show.
 */
const leastBlocks = 2_000n

/**
 * The destinations of one chain, and the block ranges to audit one after the
 * other.
 */
type ChainPlan = { own: OrdersContext; parts: BlockRange[] }

/**
 * Audits the chains at the same time, each in parts of its block range. After
 * each part, calls `show` with the share of all parts that are done.
 */
export async function auditInParts(
  { context }: Pick<OpenedShop, 'context'>,
  given: GivenRange,
  show: (share: number) => void,
): Promise<AuditReport> {
  show(0)
  const plans = await planChains(context, given)
  const count = plans.reduce((sum, { parts }) => sum + parts.length, 0)
  const failed = new AbortController()
  const { signal } = failed
  let done = 0
  const auditChain = async ({ own, parts }: ChainPlan) => {
    const reports: AuditReport[] = []
    for (const part of parts) {
      reports.push(await auditOrders(own, { ...part, signal }))
      // If another chain has failed, its error ends the command, and no
      // progress must be shown after it.
      signal.throwIfAborted()
      done++
      show(done / count)
    }
    return mergeReports(reports)
  }
  const audited = Promise.all(plans.map(auditChain))
  return joinChains(
    context,
    await audited.catch((error: unknown) => {
      failed.abort()
      throw error
    }),
  )
}

async function planChains(
  context: OrdersContext,
  given: GivenRange,
): Promise<ChainPlan[]> {
  await context.store.open()
  const chains = new Set(context.destinations.map(({ chainId }) => chainId))
  return Promise.all(
    [...chains].map(async (chainId) => {
      const destinations = context.destinations.filter(
        (destination) => destination.chainId === chainId,
      )
      const own = { ...context, destinations }
      return { own, parts: splitRange(await findRange(own, given)) }
    }),
  )
}

/** Joins the reports of all chains, in the order of the configuration. */
function joinChains(
  { destinations: order }: OrdersContext,
  reports: readonly AuditReport[],
): AuditReport {
  const destinations = reports
    .flatMap((report) => report.destinations)
    .sort(
      (one, other) =>
        order.indexOf(one.destination) - order.indexOf(other.destination),
    )
  return { ok: reports.every(({ ok }) => ok), destinations }
}

async function findRange(
  context: OrdersContext,
  given: GivenRange,
): Promise<BlockRange> {
  const found = await Promise.all(
    context.destinations.map(async (destination) => {
      const client = clientOf(context, destination)
      const { latest } = await getHeads(client, context.policy)
      const first =
        given.fromBlock ??
        (await findFirstBlock(context, client, destination, latest))
      return { first, last: latest.number }
    }),
  )
  const firsts = found.map(({ first }) => first)
  const lasts = found.map(({ last }) => last)
  const fromBlock = firsts.reduce((low, one) => (one < low ? one : low))
  const newest = lasts.reduce((high, one) => (one > high ? one : high))
  const toBlock = given.toBlock ?? newest
  return { fromBlock: fromBlock > toBlock ? toBlock : fromBlock, toBlock }
}

function splitRange({ fromBlock, toBlock }: BlockRange): BlockRange[] {
  const blocks = toBlock - fromBlock + 1n
  const even = (blocks + mostParts - 1n) / mostParts
  const size = even > leastBlocks ? even : leastBlocks
  const parts: BlockRange[] = []
  for (let first = fromBlock; first <= toBlock; first += size) {
    const last = first + size - 1n
    parts.push({ fromBlock: first, toBlock: last < toBlock ? last : toBlock })
  }
  return parts
}

type DestinationAudit = AuditReport['destinations'][number]

function mergeReports(reports: readonly AuditReport[]): AuditReport {
  const [first, ...rest] = reports
  if (!first) return { ok: true, destinations: [] }
  const destinations = first.destinations.map((one, at) =>
    rest.reduce<DestinationAudit>((all, { destinations }) => {
      const next = destinations[at]
      return next ? mergeAudits(all, next) : all
    }, one),
  )
  return { ok: reports.every(({ ok }) => ok), destinations }
}

function mergeAudits(
  one: DestinationAudit,
  next: DestinationAudit,
): DestinationAudit {
  return {
    destination: one.destination,
    fromBlock: one.fromBlock,
    toBlock: next.toBlock,
    chain: addSums(one.chain, next.chain),
    captured: addSums(one.captured, next.captured),
    unmatched: addSums(one.unmatched, next.unmatched),
    refunded: addSums(one.refunded, next.refunded),
    differences: [...one.differences, ...next.differences],
  }
}

function addSums(one: AuditSum, other: AuditSum): AuditSum {
  return { count: one.count + other.count, value: one.value + other.value }
}
