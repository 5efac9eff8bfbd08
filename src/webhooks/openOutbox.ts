import type { OrderEvent } from '../ledger/types.js'
import type { Lease } from '../store/types.js'
import { type EventQueues, eventQueues } from './eventQueues.js'
import { type Progress, readProgress, writeProgress } from './progress.js'
import type { TargetRun } from './types.js'

/** Events that are read ahead of one that is not delivered. */
const mostOpen = 1000

/** What is to be delivered to one target. */
export type Outbox = {
  queues: EventQueues
  /** Reads on; whether there may be more. */
  readOn(): Promise<boolean>
  /** Takes note of what was delivered. */
  delivered(event: OrderEvent): void
  progress(): Progress
}

/** Goes on from what is on record. */
export async function openOutbox(
  run: TargetRun,
  lease: Lease,
): Promise<Outbox> {
  const known = await readProgress(run)
  const { read, open } = known ?? (await begin(run, lease))
  const queues = eventQueues()
  const unseen = await addOpen(run, open, queues)
  let readTo = read
  let newest = read
  return {
    queues,
    readOn: async () => {
      if (queues.cursors().length >= mostOpen) return false
      const { events, cursor } = await run.orders.events({ after: readTo })
      for (const event of events) queues.add(event)
      readTo = cursor
      return events.length > 0
    },
    delivered: ({ cursor }) => {
      if (cursor > newest) newest = cursor
    },
    progress: () => ({
      read: newest,
      open: [...unseen, ...queues.cursors()]
        .filter((cursor) => cursor < newest)
        .sort((left, right) => Number(left - right)),
    }),
  }
}

/** On record before anything else, so that it is the same the next time. */
async function begin(run: TargetRun, lease: Lease): Promise<Progress> {
  const isNow = run.target.from === 'now'
  const { cursor: read } = isNow
    ? await run.orders.events({ after: 'latest' })
    : { cursor: 0n }
  const progress = { read, open: [] }
  await writeProgress(run, progress, lease)
  return progress
}

/**
 * Queues what was left open before. Gives the cursors that are not among the
 * events of these orders: they stay open for a run that has them.
 */
async function addOpen(
  { orders }: TargetRun,
  open: readonly bigint[],
  queues: EventQueues,
): Promise<bigint[]> {
  const unseen: bigint[] = []
  let rest = [...open]
  for (let first = rest[0]; first !== undefined; first = rest[0]) {
    const { events, cursor } = await orders.events({ after: first - 1n })
    const wanted = new Set(rest)
    for (const event of events) if (wanted.has(event.cursor)) queues.add(event)
    const seen = new Set(events.map((event) => event.cursor))
    const last = events.length > 0 && cursor > first ? cursor : first
    unseen.push(...rest.filter((it) => it <= last && !seen.has(it)))
    rest = rest.filter((it) => it > last)
  }
  return unseen
}
