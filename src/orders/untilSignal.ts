import { InvalidFieldError } from '../core/errors.js'
import { endingContext } from './evidence/endingContext.js'
import type { OrdersContext } from './model/types.js'

/**
 * Makes a verb end when the signal it is given aborts: it drops requests that
 * nodes have not answered, and sends no more.
 *
 * @throws the reason of the signal.
 */
export function untilSignal<
  parameters extends { signal?: AbortSignal | undefined },
  result,
>(
  verb: (context: OrdersContext, parameters?: parameters) => Promise<result>,
): (context: OrdersContext, ...rest: [parameters?]) => Promise<result> {
  return async (context, ...rest) => {
    const { signal } = Object(rest[0]) as parameters
    if (signal === undefined) return verb(context, ...rest)
    if (typeof Object(signal).addEventListener !== 'function')
      throw new InvalidFieldError('signal', signal, 'an AbortSignal')
    signal.throwIfAborted()
    try {
      return await verb(endingContext(context, signal), ...rest)
    } catch (error) {
      signal.throwIfAborted()
      throw error
    }
  }
}
