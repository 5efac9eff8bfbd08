import { LeaseLostError } from '../../store/errors.js'
import type { TaskName } from '../loop/putAside.js'
import type { FailedPart } from './watchAside.js'
import type { Watch } from './watchState.js'

/**
 * Runs one step of a poll, unless the step failed before and waits for its next
 * try. A failure is reported, and does not stop the other steps.
 *
 * @returns `undefined` if the step waits or failed.
 * @throws {@link LeaseLostError} when another process holds the lease now.
 */
export async function tryStep<result>(
  { aside, apart }: Pick<Watch, 'aside' | 'apart'>,
  name: TaskName,
  step: () => Promise<result>,
): Promise<result | undefined> {
  // If only single orders of the step failed, run the step: each of these
  // orders waits for its own next try.
  const hasParts = apart.has(name)
  if (!hasParts && aside.isWaiting(name)) return undefined
  try {
    const result = await step()
    if (!hasParts && !apart.has(name)) aside.clear(name)
    return result
  } catch (error) {
    if (error instanceof LeaseLostError) throw error
    if (!aside.isWaiting(name)) aside.put(name, error)
    return undefined
  }
}

/**
 * Adds a fault to the list of failures, which reports it. Without a fault,
 * removes the earlier one.
 */
export function reportFault(
  aside: Watch['aside'],
  name: TaskName,
  fault: Error | undefined,
): void {
  if (!fault) aside.clear(name)
  else if (!aside.isWaiting(name)) aside.put(name, fault)
}

/**
 * List of single orders or proofs that failed in a step. Each waits for its own
 * next try, so that the others continue.
 */
export type Apart = {
  /**
   * Makes one order or proof wait for its next try, and reports its failure.
   * `due` is the chain time of the next try, if known.
   * @throws the error itself if the caller keeps no list of failures.
   */
  put(
    name: string,
    error: unknown,
    part?: (FailedPart & { due?: bigint | undefined }) | undefined,
  ): void
  /** True while this order or proof waits for its next try. */
  isWaiting(name: string): boolean
  /**
   * Removes a failure after the order or proof succeeded later than its step.
   */
  clear(name: string): void
  /**
   * Ends the step: removes the failures that were due for a new try and did not
   * fail again.
   * @param open names whose new try still runs: their failures stay.
   */
  close(open?: ReadonlySet<string> | undefined): void
}

/** Begins a step in which single orders or proofs may fail. */
export function openApart(
  { aside, apart }: Pick<Watch, 'aside' | 'apart'>,
  { step, time }: { step: TaskName; time: bigint },
): Apart {
  const failed = new Set<string>()
  return {
    put: (name, error, { due = 0n, ...part } = {}) => {
      aside.put(name, error, part)
      failed.add(name)
      apart.set(name, { step, due })
    },
    isWaiting: (name) => aside.isWaiting(name),
    clear: (name) => {
      apart.delete(name)
      aside.clear(name)
    },
    close: (open) => {
      for (const [name, one] of apart) {
        const isOpen =
          one.step !== step ||
          failed.has(name) ||
          open?.has(name) ||
          aside.isWaiting(name)
        if (isOpen || one.due > time) continue
        apart.delete(name)
        aside.clear(name)
      }
    },
  }
}
