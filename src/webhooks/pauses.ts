import type { Lease, StoredValue } from '../store/types.js'
import { pausesKey } from './progress.js'
import type { TargetRun } from './targets/types.js'

/**
 * How long a target's failures delay its next deliveries. A run that ends by
 * itself hands this to the next one. Times are by `performance.now()`.
 */
export type Pauses = {
  /** How many different events have failed since the last success. */
  failures: number
  /** No delivery may begin before. */
  until: number
  /** The first events of queues that failed, by their cursors. */
  events: ReadonlyMap<bigint, EventPause>
}

export type EventPause = {
  /** How often delivering the event has failed. */
  failures: number
  /** Time of its next delivery. */
  until: number
}

export const noPauses: Pauses = { failures: 0, until: 0, events: new Map() }

/** Most events whose pauses are saved: those that failed most often. */
const mostEvents = 100

/** The longest pause that is believed, in case a clock jumped: an hour. */
const longest = 3_600_000

/** Loads what the last run that ended by itself has saved. */
export async function loadPauses({
  store,
  target,
}: TargetRun): Promise<Pauses> {
  const value = await store.read((it) => it.getValue(pausesKey(target)))
  return decodePauses(value)
}

/** @throws {@link LeaseLostError} when another process delivers to it now. */
export async function savePauses(
  { store, target }: TargetRun,
  pauses: Pauses,
  lease: Lease,
): Promise<void> {
  const value = encodePauses(pauses)
  await store.write((it) => it.setValue(pausesKey(target), value), { lease })
}

function encodePauses({ failures, until, events }: Pauses): StoredValue {
  const clock = Date.now() - performance.now()
  const kept = [...events]
    .sort(([, left], [, right]) => right.failures - left.failures)
    .slice(0, mostEvents)
  return {
    failures,
    until: Math.round(clock + until),
    events: kept.map(([cursor, event]) => [
      String(cursor),
      event.failures,
      Math.round(clock + event.until),
    ]),
  }
}

/** A row that cannot be read delays nothing. */
function decodePauses(value: StoredValue = {}): Pauses {
  const now = performance.now()
  const clock = Date.now() - now
  const timeOf = (until: unknown) =>
    Math.min((Number(until) || 0) - clock, now + longest)
  const countOf = (failures: unknown) => Number(failures) || 0
  const rows: unknown[] = Array.isArray(value.events) ? value.events : []
  const events = rows.flatMap((row): [bigint, EventPause][] => {
    const [cursor, failures, until] = Array.isArray(row) ? row : []
    if (!/^\d+$/.test(String(cursor))) return []
    const event = { failures: countOf(failures), until: timeOf(until) }
    return [[BigInt(String(cursor)), event]]
  })
  const { failures, until } = value
  return {
    failures: countOf(failures),
    until: timeOf(until),
    events: new Map(events),
  }
}
