import type { WebhookTools } from './types.js'

/** Orders that are delivered at the same time. */
const widest = 8

/** How much a target can take. */
export type Pace = {
  /** How many tries may be under way. */
  width(): number
  /** Before which no try begins. */
  until(): number
  succeeded(): void
  failed(facts: { startedAt: number; retryAfter?: number | undefined }): void
}

/**
 * Slows down for a target that fails: one try at a time, after ever longer
 * pauses, until one succeeds.
 */
export function targetPace(pause: WebhookTools['pause']): Pace {
  let failures = 0
  let until = 0
  let failedAt = Number.NEGATIVE_INFINITY
  return {
    width: () => (failures > 0 ? 1 : widest),
    until: () => until,
    succeeded: () => {
      failures = 0
    },
    failed: ({ startedAt, retryAfter }) => {
      const now = performance.now()
      // What was under way together fails together, and counts once.
      const isNew = startedAt >= failedAt
      if (isNew) failures++
      if (isNew || retryAfter) {
        failedAt = now
        until = Math.max(until, now + pause(failures, retryAfter))
      }
    },
  }
}
