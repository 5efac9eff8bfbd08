import { InvalidFieldError, shown } from './errors.js'

/**
 * The longest time in milliseconds that a timer can wait; with a longer time it
 * fires at once.
 */
const longest = 2_147_483_647

/**
 * Checks the milliseconds that a call waits at most.
 *
 * @throws {@link InvalidFieldError} when `timeout` is no number from 0 to
 * 2,147,483,647.
 */
export function checkTimeout(timeout: unknown): void {
  if (typeof timeout !== 'number' || !(timeout >= 0 && timeout <= longest))
    throw new InvalidFieldError(
      'timeout',
      shown(timeout),
      `milliseconds from 0 to ${longest}`,
    )
}
