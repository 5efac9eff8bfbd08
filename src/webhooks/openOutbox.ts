import type { OrderEvent } from '../records/types.js'
import type { Lease } from '../store/types.js'
import type { TargetRun } from '../targets/types.js'
import { type EventQueues, eventQueues } from './eventQueues.js'
import { type Progress, readProgress, writeProgress } from './progress.js'

/** Events that are read ahead of one that is not delivered. */
const mostOpen = 1000

/** What is to be delivered to one target. */
export type Outbox = {
  queues: EventQueues
  /** Reads on; whether there may be more. */
  readOn(): Promise<boolean>
  /** Hands over, once, what the target does not take and is past now. */
  takeSkipped(): readonly OrderEvent[]
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
  const skipped: OrderEvent[] = []
  let readTo = read
  let newest = read
  const delivered = ({ cursor }: OrderEvent) => {
    if (cursor > newest) newest = cursor
  }
  const offer = (event: OrderEvent) => {
    const { types } = run.target
    if (!types || types.includes(event.type)) return queues.add(event)
    skipped.push(event)
    delivered(event)
  }
  const unseen = await addOpen(run, open, offer)
  return {
    queues,
    readOn: async () => {
      if (queues.cursors().length >= mostOpen) return false
      const { events, cursor } = await run.orders.events({ after: readTo })
      for (const event of events) offer(event)
      readTo = cursor
      return events.length > 0
    },
    takeSkipped: () => skipped.splice(0),
    delivered,
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
 * Offers what was left open before. Gives the cursors that are not among the
 * events of these orders: they stay open for a run that has them.
 */
async function addOpen(
  { orders }: TargetRun,
  open: readonly bigint[],
  offer: (event: OrderEvent) => void,
): Promise<bigint[]> {
  const unseen = new Set(open)
  let readTo = 0n
  for (const first of open) {
    if (first <= readTo) continue
    const { events, cursor } = await orders.events({ after: first - 1n })
    for (const event of events) if (unseen.delete(event.cursor)) offer(event)
    readTo = cursor
  }
  return [...unseen]
}
