import { checkMembers } from '../core/checkMembers.js'
import { checkSignal } from '../core/checkSignal.js'
import { InvalidFieldError, shown } from '../core/errors.js'
import { runUntilIdle, type Worker } from '../core/untilIdle.js'

/** Parameters of `runDue`. */
export type RunDueParameters = {
  /**
   * When to begin nothing more: a date, or Unix milliseconds. Must not be over.
   * `runDue` returns at most 5 seconds later.
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

/** The longest pause until the next call, in milliseconds. */
const longestPause = 3_600_000

type RunDue = (parameters: RunDueParameters) => Promise<{ next: Date }>

/** Creates `runDue` of `Orders`. Its calls take turns. */
export function createRunDue(worker: Worker): RunDue {
  let last: Promise<unknown> = Promise.resolve()
  return async (parameters) => {
    checkMembers(parameters, ['until', 'also', 'signal'])
    const { also = [], signal } = parameters
    checkSignal(signal)
    if (!Array.isArray(also) || also.some((one) => typeof one !== 'function'))
      throw new InvalidFieldError('also', shown(also), 'a list of functions')
    const until = parseUntil(parameters)
    const run = () => runUntilIdle([worker, ...also], { until, signal })
    const turn = last.then(run)
    last = turn.catch(() => undefined)
    const rest = Math.max(0, (await turn) - performance.now())
    return { next: new Date(Date.now() + Math.min(rest, longestPause)) }
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
