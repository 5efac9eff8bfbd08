import { InvalidFieldError, shown } from '../../core/errors.js'
import { OutcomeTimeoutError } from './errors.js'

/** Work and pauses that a timeout or a signal can end early. */
export type Wait = {
  until<value>(work: Promise<value>): Promise<value>
  pause(milliseconds: number): Promise<void>
  /** Removes the timer and the listener. */
  end(): void
}

/**
 * Milliseconds. A JavaScript timer with a longer time fires at once. A literal,
 * because bundlers would keep a computed value even where it is unused.
 */
const maxTimer = 2_147_483_647

/**
 * Checks a time to wait; `Infinity` is allowed. A value that is not a number
 * would make the wait endless.
 *
 * @throws {@link InvalidFieldError} when it is given and invalid.
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
