import type { OrderEventType } from '../orders/index.js'
import { noPauses, type Pauses } from './pauses.js'
import type { WebhookTools } from './targets/types.js'

/** How fast events may be sent to a target. */
export type TargetPace = {
  /** How many deliveries may run at the same time. */
  width(): number
  /** No delivery may begin before this time, by `performance.now()`. */
  until(): number
  /** How many different events have failed since the last success. */
  failures(): number
  /** Types of events that the receiver refused since its last success. */
  refused(): ReadonlySet<string>
  succeeded(): void
  failed(facts: Failure): void
}

type Failure = {
  type: OrderEventType
  /** How often this event has been sent, this time included. */
  tries: number
  startedAt: number
  /** HTTP status, if the receiver answered. */
  status?: number | undefined
  /** Milliseconds that the receiver asks to wait (header `Retry-After`). */
  retryAfter?: number | undefined
}

/**
 * Slows down while several events fail in a row: sends one at a time, with
 * growing pauses, until one succeeds.
 */
export function targetPace(
  pause: WebhookTools['pause'],
  widest: number,
  saved: Pick<Pauses, 'failures' | 'until'> = noPauses,
): TargetPace {
  let { failures, until } = saved
  let failedAt = Number.NEGATIVE_INFINITY
  const refused = new Set<string>()
  return {
    width: () => (failures > 0 ? 1 : widest),
    until: () => until,
    failures: () => failures,
    refused: () => refused,
    succeeded: () => {
      failures = 0
      refused.clear()
    },
    failed: ({ type, tries, startedAt, status, retryAfter }) => {
      const now = performance.now()
      refused.add(type)
      if (retryAfter) until = Math.max(until, now + pause(1, retryAfter))
      // Deliveries that run at the same time fail for the same reason, so they
      // count as one failure.
      if (startedAt < failedAt) return
      failedAt = now
      // A repeated failure of the same event says nothing new about the
      // receiver.
      if (tries === 1) failures++
      if (failures <= 1) return
      const count = isAboutEvent(status) ? 1 : failures - 1
      until = Math.max(until, now + pause(count))
    },
  }
}

/**
 * True when the receiver works but refuses this event. It may accept the next
 * event, so the pause does not grow.
 */
function isAboutEvent(status = 503): boolean {
  return status >= 400 && status <= 500 && status !== 429
}
