import { LeaseLostError } from '../../store/errors.js'
import type { Aside } from '../model/putAside.js'
import type { WatchMemory } from './watchState.js'

/**
 * Takes one step of a look, unless it waits for its next try. A step that fails
 * is put aside and reported, so that the others go on.
 *
 * @returns `undefined` where it waits or failed.
 * @throws {@link LeaseLostError} when another process works on it now.
 */
export async function tryStep<result>(
  { aside, apart }: WatchMemory,
  name: string,
  step: () => Promise<result>,
): Promise<result | undefined> {
  // If only parts of the step failed, the step runs and they alone wait.
  const hasParts = apart?.has(name) === true
  if (!hasParts && aside?.isWaiting(name)) return undefined
  try {
    const result = await step()
    if (!hasParts && !apart?.has(name)) aside?.clear(name)
    return result
  } catch (error) {
    if (error instanceof LeaseLostError) throw error
    if (!aside?.isWaiting(name)) aside?.put(name, error)
    return undefined
  }
}

/** Reports a fault by putting it aside, and clears it once it is over. */
export function reportFault(
  aside: Aside | undefined,
  name: string,
  fault: Error | undefined,
): void {
  if (!fault) aside?.clear(name)
  else if (!aside?.isWaiting(name)) aside?.put(name, fault)
}
