import { RequestRefusedError } from './routes/errors.js'
import type { ProblemReason } from './schemas/problemTable.js'

/**
 * Runs the work, or refuses it while too much other work of the same client
 * runs. `whose` names the client: its recipients, or the id of its order.
 */
export type LimitEach = <result>(
  whose: readonly string[],
  work: () => Promise<result>,
) => Promise<result>

/**
 * Limits how much work of one client runs at the same time, so that no client
 * takes the places of all others.
 *
 * @param most most work of one client.
 * @throws {@link RequestRefusedError} with this reason, above that.
 */
export function limitEach(most: number, reason: ProblemReason): LimitEach {
  const running = new Map<string, number>()
  return async (whose, work) => {
    const name = whose
      .map((one) => one.toLowerCase())
      .sort()
      .join()
    const count = running.get(name) ?? 0
    if (count >= most) throw new RequestRefusedError(reason)
    running.set(name, count + 1)
    try {
      return await work()
    } finally {
      const left = (running.get(name) ?? 1) - 1
      if (left > 0) running.set(name, left)
      else running.delete(name)
    }
  }
}
