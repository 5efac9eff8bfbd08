import { CountersignError } from './CountersignError.js'
import { errorName } from './errorName.js'

/**
 * Something that happened, for metrics and logs. Never contains a signature.
 */
export type Observation = {
  name: string
  /** Milliseconds that the work took. Absent if no time was measured. */
  duration?: number | undefined
  attributes: Readonly<Record<string, string | number | boolean>>
}

/** Receives each observation. Must not throw. */
export type Observer = { observe: (observation: Observation) => void }

/**
 * Reports failed work to `observe`. Leaves out the message of an error that is
 * not this library's, because that message could contain a secret.
 */
export function observeFailure(
  { observe }: Observer,
  name: `${string}.failed`,
  { about, error }: { about: Observation['attributes']; error: unknown },
): void {
  const { message } = Object(error)
  const words = error instanceof CountersignError ? String(message) : ''
  observe({ name, attributes: { ...about, error: errorName(error), words } })
}
