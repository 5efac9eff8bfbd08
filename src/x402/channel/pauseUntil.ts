import { growingPause } from '../../core/keepTrying.js'

/** Milliseconds between two tries while the database does not answer. */
const pauses = { shortest: 50, longest: 2_000 }

/**
 * Returns what `keepTrying` asks for the pause after a failed write: growing
 * pauses, until `timeout` milliseconds from now.
 */
export function pauseUntil(
  timeout: number,
): (error: unknown, failures: number) => number | undefined {
  const end = performance.now() + timeout
  return (_, failures) => {
    const left = end - performance.now()
    return left > 0 ? Math.min(left, growingPause(failures, pauses)) : undefined
  }
}
