import type { WebhookTools } from '../targets/types.js'

/** Orders that are delivered at the same time. */
const widest = 8

/** How much a target can take. */
export type Pace = {
  /** How many tries may be under way. */
  width(): number
  /** Before which no try begins. */
  until(): number
  succeeded(): void
  failed(facts: Failure): void
}

type Failure = {
  /** How often the same event was tried by now. */
  tries: number
  startedAt: number
  /** Milliseconds. */
  retryAfter?: number | undefined
}

/**
 * Slows down for a target that fails one event after the other: one try at a
 * time, after ever longer pauses, until one succeeds.
 */
export function targetPace(pause: WebhookTools['pause']): Pace {
  /** How many events failed since the last one that did not. */
  let failures = 0
  let until = 0
  let failedAt = Number.NEGATIVE_INFINITY
  return {
    width: () => (failures > 0 ? 1 : widest),
    until: () => until,
    succeeded: () => {
      failures = 0
    },
    failed: ({ tries, startedAt, retryAfter }) => {
      const now = performance.now()
      if (retryAfter) until = Math.max(until, now + pause(1, retryAfter))
      // What was under way together fails together, and counts once.
      if (startedAt < failedAt) return
      failedAt = now
      // An event that fails again says nothing new about the target.
      if (tries === 1) failures++
      if (failures > 1) until = Math.max(until, now + pause(failures - 1))
    },
  }
}
