import { CountersignError } from '../core/CountersignError.js'
import type { OrdersContext } from './model/types.js'

/** Does something, and tells the one who watches how it went. */
export async function watchVerb<result>(
  { observe }: Pick<OrdersContext, 'observe'>,
  verb: string,
  work: () => Promise<result>,
): Promise<result> {
  const name = `orders.${verb}`
  const start = performance.now()
  const duration = () => performance.now() - start
  try {
    const result = await work()
    observe({ name, duration: duration(), attributes: outcomeOf(result) })
    return result
  } catch (error) {
    // Only the names of our own errors are known to say nothing else.
    const known = error instanceof CountersignError
    const attributes = { ok: false, error: known ? error.name : 'Error' }
    observe({ name, duration: duration(), attributes })
    throw error
  }
}

/** What a verdict or a result says in one word. */
function outcomeOf(result: unknown): Record<string, string | boolean> {
  const { ok = true, reason, status } = Object(result)
  return {
    ok: ok === true,
    ...(typeof reason === 'string' ? { reason } : {}),
    ...(typeof status === 'string' ? { status } : {}),
  }
}
