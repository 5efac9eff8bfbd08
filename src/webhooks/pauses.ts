import { hashText } from '../core/hashText.js'
import type { Lease, StoredValue } from '../store/types.js'
import { pausesKey } from './progress.js'
import type { CheckedTarget, TargetRun } from './targets/types.js'

/**
 * How long a target's failures delay its next deliveries. A call of `runDue`
 * saves this for the next call. Times are by `performance.now()`.
 */
export type Pauses = {
  /** How many different events have failed since the last success. */
  failures: number
  /** No delivery may begin before. */
  until: number
  /**
   * Cursor of the newest event that failed. Earlier events that are not in
   * `events` count as failed too, and may be sent again at any time.
   */
  failedTo: bigint
  /** Events that failed and are not delivered yet, by their cursors. */
  events: ReadonlyMap<bigint, EventPause>
}

export type EventPause = {
  /** How often delivering the event has failed. */
  failures: number
  /** Time of its next delivery. */
  until: number
}

export const noPauses: Pauses = {
  failures: 0,
  until: 0,
  failedTo: 0n,
  events: new Map(),
}

/** Most events whose pauses are saved: those that failed most often. */
const mostEvents = 100

/** Longer saved pauses are cut to this, in case a clock jumped: an hour. */
const longest = 3_600_000

/**
 * Loads the pauses with which the last call of `runDue` ended. A run that stays
 * begins without any, and forgets the saved ones. Pauses of another URL do not
 * count, so that a corrected one is asked at once.
 */
export async function startPauses(
  run: TargetRun,
  lease: Lease,
): Promise<Pauses> {
  const { store, target } = run
  const value = await store.read((it) => it.getValue(pausesKey(target)))
  const saved =
    value?.url === urlHashOf(target) ? decodePauses(value) : noPauses
  if (run.isCall || isNone(saved)) return saved
  await savePauses(run, noPauses, lease)
  return noPauses
}

/** @throws {@link LeaseLostError} when another process delivers to it now. */
export async function savePauses(
  { store, target }: TargetRun,
  pauses: Pauses,
  lease: Lease,
): Promise<void> {
  const value = { url: urlHashOf(target), ...encodePauses(pauses) }
  await store.write((it) => it.setValue(pausesKey(target), value), { lease })
}

/** A URL can hold a secret, so only its hash is saved. */
const urlHashOf = ({ url }: CheckedTarget): string => hashText(url.href)

/** Returns what a queue begins with if this is its first event. */
export function pauseOfEvent(pauses: Pauses, cursor: bigint): EventPause {
  const isFailed = cursor <= pauses.failedTo
  return pauses.events.get(cursor) ?? { failures: isFailed ? 1 : 0, until: 0 }
}

/** True if nothing is delayed and no failure counts. */
export function isNone({ failures, until, events }: Pauses): boolean {
  return failures === 0 && events.size === 0 && until <= performance.now()
}

function encodePauses({
  failures,
  until,
  failedTo,
  events,
}: Pauses): StoredValue {
  const clock = Date.now() - performance.now()
  const kept = [...events]
    .sort(([, left], [, right]) => right.failures - left.failures)
    .slice(0, mostEvents)
  return {
    failures,
    until: Math.round(clock + until),
    failedTo: String(failedTo),
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
  const cursorOf = (cursor: unknown) =>
    /^\d+$/.test(String(cursor)) ? BigInt(String(cursor)) : 0n
  const rows: unknown[] = Array.isArray(value.events) ? value.events : []
  return {
    failures: countOf(value.failures),
    until: timeOf(value.until),
    failedTo: cursorOf(value.failedTo),
    events: new Map(
      rows.map((row) => {
        const [cursor, failures, until] = Array.isArray(row) ? row : []
        const event = { failures: countOf(failures), until: timeOf(until) }
        return [cursorOf(cursor), event]
      }),
    ),
  }
}
