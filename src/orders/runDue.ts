import { checkMembers } from '../core/checkMembers.js'
import { checkSignal } from '../core/checkSignal.js'
import { InvalidFieldError, shown } from '../core/errors.js'
import { endOnAbort, onAbort } from '../core/onAbort.js'
import { runUntilIdle, type Worker } from '../core/untilIdle.js'
import { inTime } from '../core/wait.js'
import type { Instance } from './createInstance.js'

/** Parameters of `runDue`. */
export type RunDueParameters = {
  /**
   * When to begin nothing more: a date, or Unix milliseconds. Must not be over.
   * `runDue` returns at most 5 seconds later, or 15 if it delivers webhooks.
   */
  until: Date | number
  /**
   * Other workers to run meanwhile, such as `subscriptions.run`, or a function
   * that passes its signal to `runWebhooks`. A worker that is not of this package
   * runs until `until`, unless it returns before.
   */
  also?: readonly Worker[] | undefined
  /** Ends the work before `until`, as in `run`. */
  signal?: AbortSignal | undefined
}

/** The longest time of a JavaScript timer, in milliseconds. */
const longestTimer = 2 ** 31 - 1

/** The longest pause until the next call, in milliseconds. */
const longestPause = 3_600_000

type RunDue = (parameters: RunDueParameters) => Promise<{ next: Date }>

/** Creates `runDue` of `Orders`. Its calls take turns. */
export function createRunDue(
  { open, closing }: Pick<Instance, 'open' | 'closing'>,
  worker: Worker,
): RunDue {
  let last: Promise<unknown> = Promise.resolve()
  return async (parameters) => {
    checkMembers(parameters, ['until', 'also', 'signal'])
    const { also = [], signal } = parameters
    checkSignal(signal)
    if (!Array.isArray(also) || also.some((one) => typeof one !== 'function'))
      throw new InvalidFieldError('also', shown(also), 'a list of functions')
    const until = parseUntil(parameters)
    // `run` would try again until it can. Here the caller has to know.
    await open()
    const ending = new AbortController()
    const end = () => ending.abort()
    const signals = signal ? [signal, closing] : [closing]
    const forgets = signals.map((one) => onAbort(one, end))
    if (signals.some(({ aborted }) => aborted)) end()
    const run = async (before: Promise<unknown>) => {
      const rest = Math.min(until - performance.now(), longestTimer)
      const turn = endOnAbort(before, ending.signal)
      // The calls before may take longer than this one may wait.
      await inTime(turn, rest, end).catch(() => undefined)
      if (ending.signal.aborted) return 0
      const { signal } = ending
      return runUntilIdle([worker, ...also], { until, signal })
    }
    const running = run(last)
    last = Promise.allSettled([last, running])
    const nextLook = await running.finally(() => {
      for (const forget of forgets) forget()
    })
    const rest = closing.aborted ? 0 : nextLook - performance.now()
    const pause = Math.min(Math.max(0, rest), longestPause)
    return { next: new Date(Date.now() + pause) }
  }
}

/** Returns the time by `performance.now()`. */
function parseUntil({ until }: Pick<RunDueParameters, 'until'>): number {
  const isTime = until instanceof Date || typeof until === 'number'
  const rest = Number(until) - Date.now()
  if (isTime && rest > 0) return performance.now() + rest
  throw new InvalidFieldError(
    'until',
    shown(until),
    'a Date or Unix milliseconds that are yet to come',
  )
}
