import { InvalidFieldError, shown } from '../../core/errors.js'
import { OutcomeTimeoutError } from './errors.js'

/**
 * Runs work and pauses, all of which end early on a timeout or when a signal
 * aborts.
 */
export type Wait = {
  until<value>(work: Promise<value>): Promise<value>
  pause(milliseconds: number): Promise<void>
  /** Removes the timer of the timeout and the listener of the signal. */
  end(): void
}

/**
 * Longest time of a JavaScript timer in milliseconds; a longer one fires at
 * once. Written as a literal, because bundlers keep a computed value even where
 * it is unused.
 */
const maxTimer = 2_147_483_647

/**
 * Checks an optional number of milliseconds; `Infinity` is allowed. With a
 * value that is not a number, a wait would never end.
 *
 * @throws {@link InvalidFieldError} when the value is given and invalid.
 */
export function checkMilliseconds(
  value: number | undefined,
  field: string,
): void {
  const isTime = typeof value === 'number' && value >= 0
  if (value !== undefined && !isTime)
    throw new InvalidFieldError(
      field,
      shown(value),
      'milliseconds: a number of 0 or more',
    )
}

export function startWait({
  timeout = Number.POSITIVE_INFINITY,
  signal,
  hash,
}: {
  timeout?: number | undefined
  signal?: AbortSignal | undefined
  hash?: string | undefined
}): Wait {
  let fail: (error: unknown) => void = () => undefined
  const ended = new Promise<never>((_, reject) => {
    fail = reject
  })
  ended.catch(() => undefined)
  const abort = () => fail(signal?.reason)
  signal?.addEventListener('abort', abort)
  const deadline =
    timeout <= maxTimer
      ? setTimeout(
          () => fail(new OutcomeTimeoutError({ timeout, hash })),
          timeout,
        )
      : undefined
  let pause: ReturnType<typeof setTimeout> | undefined
  return {
    until: (work) => Promise.race([work, ended]),
    pause: (milliseconds) => {
      const over = new Promise<void>((resolve) => {
        const time = milliseconds <= maxTimer ? milliseconds : maxTimer
        pause = setTimeout(resolve, time)
      })
      return Promise.race([over, ended])
    },
    end: () => {
      clearTimeout(deadline)
      clearTimeout(pause)
      signal?.removeEventListener('abort', abort)
    },
  }
}
