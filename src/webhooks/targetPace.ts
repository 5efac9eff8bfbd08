import type { OrderEventType } from '../orders/model/types.js'
import type { WebhookTools } from './targets/types.js'

/** How much a target can take. */
export type TargetPace = {
  /** How many tries may be under way. */
  width(): number
  /** Before which no try begins. */
  until(): number
  /** Types of events that failed since the last success. */
  refused(): ReadonlySet<string>
  succeeded(): void
  failed(facts: Failure): void
}

type Failure = {
  type: OrderEventType
  /** How often the same event was tried by now. */
  tries: number
  startedAt: number
  /** HTTP status, where the receiver answered. */
  status?: number | undefined
  /** Milliseconds. */
  retryAfter?: number | undefined
}

/**
 * Slows down for a target that fails one event after the other: one try at a
 * time, after ever longer pauses, until one succeeds.
 */
export function targetPace(
  pause: WebhookTools['pause'],
  widest: number,
): TargetPace {
  /** How many events failed since the last one that did not. */
  let failures = 0
  let until = 0
  let failedAt = Number.NEGATIVE_INFINITY
  const refused = new Set<string>()
  return {
    width: () => (failures > 0 ? 1 : widest),
    until: () => until,
    refused: () => refused,
    succeeded: () => {
      failures = 0
      refused.clear()
    },
    failed: ({ type, tries, startedAt, status, retryAfter }) => {
      const now = performance.now()
      refused.add(type)
      if (retryAfter) until = Math.max(until, now + pause(1, retryAfter))
      // What was under way together fails together, and counts once.
      if (startedAt < failedAt) return
      failedAt = now
      // An event that fails again says nothing new about the target.
      if (tries === 1) failures++
      if (failures <= 1) return
      const count = isAboutEvent(status) ? 1 : failures - 1
      until = Math.max(until, now + pause(count))
    },
  }
}

/**
 * True when the receiver works but refuses this event. It may take the next
 * one, so the pause before that does not grow.
 */
function isAboutEvent(status = 503): boolean {
  return status >= 400 && status <= 500 && status !== 429
}
