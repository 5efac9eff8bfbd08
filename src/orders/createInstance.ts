import { CountersignError } from '../core/CountersignError.js'
import { InvalidFieldError } from '../core/errors.js'
import type { Observation } from '../core/observeFailure.js'
import { inTime } from '../core/wait.js'
import { endingContext, lastAnswers, lastWrites } from './loop/endingContext.js'
import type { OrdersContext } from './model/types.js'
import {
  createSubmitterEngine,
  type SubmitterEngine,
} from './submitter/submitterEngine.js'
import { checkSealKeys } from './verbs/checkSealKeys.js'
import { openStore } from './verbs/openStore.js'

/** The state and functions that all methods of one instance use. */
export type Instance = {
  /**
   * Opens the store on the first call, and reads the shop again if it changed
   * since. After a failure, the next call tries again.
   */
  open(): Promise<void>
  /**
   * Opens the store and checks that there is a key for every secret in it.
   *
   * @throws {@link OrdersSetupError} when a key is missing.
   */
  openSealed(): Promise<void>
  /** Creates the engine that drives the submitters, once. */
  drive(): SubmitterEngine
  /**
   * Checks a method's parameter, opens the store, runs the work and reports it.
   */
  perform<result>(
    name: string,
    given: unknown,
    work: () => Promise<result>,
  ): Promise<result>
  /**
   * Like `perform`, for work that yields its result in pieces. Starts the work
   * when the caller asks for the first piece.
   */
  stream<piece>(
    name: string,
    given: unknown,
    work: () => AsyncIterable<piece>,
  ): AsyncGenerator<piece>
  /** Lets `close` wait for this work before it closes the store. */
  hold<result>(work: Promise<result>): Promise<result>
  close(): Promise<void>
}

/** Methods that seal or open secrets. The others work without the keys. */
const sealingVerbs: readonly string[] = [
  'draft',
  'accept',
  'reauthorize',
  'capture',
  'acceptCancellation',
  'approveCancellation',
  'acceptRefund',
  'reseal',
]

export function createInstance(context: OrdersContext): Instance {
  let opened: Promise<void> | undefined
  let checked: Promise<void> | undefined
  let engine: SubmitterEngine | undefined
  const going = new Set<Promise<unknown>>()
  const open = async () => {
    opened ??= openStore(context).catch((error: unknown) => {
      opened = undefined
      throw error
    })
    await opened
    await context.shop.refresh()
  }
  const openSealed = async () => {
    await open()
    checked ??= checkSealKeys(context).catch((error: unknown) => {
      checked = undefined
      throw error
    })
    await checked
  }
  return {
    open,
    openSealed,
    drive: () => {
      engine ??= createSubmitterEngine(context)
      return engine
    },
    perform: (name, given, work) =>
      watchVerb(context, name, async () => {
        checkObject(given)
        await (sealingVerbs.includes(name) ? openSealed() : open())
        return work()
      }),
    stream: (name, given, work) =>
      watchStream(context, name, async function* () {
        checkObject(given)
        await open()
        yield* work()
      }),
    hold: (work) => {
      going.add(work)
      return work.finally(() => going.delete(work))
    },
    close: async () => {
      const ended = Promise.all([engine?.stop(), Promise.allSettled(going)])
      await endWithin(ended, lastAnswers + 2 * lastWrites)
      await endWithin(context.store.close(), lastWrites)
    },
  }
}

/**
 * Waits for work to end, up to a limit. Does not wait longer for work that
 * hangs.
 */
async function endWithin(
  work: Promise<unknown>,
  milliseconds: number,
): Promise<void> {
  await inTime<unknown>(work, milliseconds, () => undefined)
}

/** Refuses a parameter that is no object: callers may use plain JavaScript. */
export function checkObject(given: unknown): void {
  if (typeof given === 'object' && given !== null) return
  throw new InvalidFieldError('parameters', given, 'an object')
}

/** Runs a method's work and reports how long it took and how it ended. */
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
    observe({ name, duration: duration(), attributes: failureOf(error) })
    throw error
  }
}

/** Like {@link watchVerb}, for work that yields its result in pieces. */
async function* watchStream<piece>(
  { observe }: Pick<OrdersContext, 'observe'>,
  verb: string,
  work: () => AsyncGenerator<piece>,
): AsyncGenerator<piece> {
  const start = performance.now()
  let attributes: Observation['attributes'] = { ok: true }
  try {
    yield* work()
  } catch (error) {
    attributes = failureOf(error)
    throw error
  } finally {
    const duration = performance.now() - start
    observe({ name: `orders.${verb}`, duration, attributes })
  }
}

function failureOf(error: unknown): Observation['attributes'] {
  // The name of an error that is not ours could contain anything, so do not
  // report it.
  const known = error instanceof CountersignError
  return { ok: false, error: known ? error.name : 'Error' }
}

/** The attributes of a result to observe: `ok`, `reason` and `status`. */
function outcomeOf(result: unknown): Record<string, string | boolean> {
  const { ok = true, reason, status } = Object(result)
  return {
    ok: ok === true,
    ...(typeof reason === 'string' ? { reason } : {}),
    ...(typeof status === 'string' ? { status } : {}),
  }
}

/**
 * Ends a method's work when its signal aborts: it drops requests that nodes
 * have not answered, and sends no more.
 *
 * @throws the reason of the signal.
 */
export async function untilSignal<
  parameters extends { signal?: AbortSignal | undefined },
  result,
>(
  context: OrdersContext,
  parameters: parameters,
  verb: (context: OrdersContext, parameters: parameters) => Promise<result>,
): Promise<result> {
  const { signal } = parameters
  if (signal === undefined) return verb(context, parameters)
  if (typeof Object(signal).addEventListener !== 'function')
    throw new InvalidFieldError('signal', signal, 'an AbortSignal')
  signal.throwIfAborted()
  try {
    return await verb(endingContext(context, signal), parameters)
  } catch (error) {
    signal.throwIfAborted()
    throw error
  }
}
