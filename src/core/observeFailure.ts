import { CountersignError } from './CountersignError.js'

/** A fact for metrics and logs; never a signature. */
export type Observation = {
  name: string
  /** Milliseconds that the work took, if it took time. */
  duration?: number | undefined
  attributes: Readonly<Record<string, string | number | boolean>>
}

/** Receives what happened. Must not throw. */
export type Observer = { observe: (observation: Observation) => void }

/**
 * Reports failed work to `observe`. Leaves out the message of a foreign error,
 * which could quote a secret.
 */
export function observeFailure(
  { observe }: Observer,
  name: `${string}.failed`,
  { about, error }: { about: Observation['attributes']; error: unknown },
): void {
  const { name: kind, message } = Object(error)
  const words = error instanceof CountersignError ? String(message) : ''
  observe({ name, attributes: { ...about, error: String(kind), words } })
}
