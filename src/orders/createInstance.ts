import { CountersignError } from '../core/CountersignError.js'
import { checkSignal } from '../core/checkSignal.js'
import { InvalidFieldError } from '../core/errors.js'
import { loadOnce } from '../core/loadOnce.js'
import type { Observation } from '../core/observeFailure.js'
import { inTime } from '../core/wait.js'
import type { OrdersContext } from './context/types.js'
import { endingContext, lastAnswers, lastWrites } from './loop/endingContext.js'
import {
  createSubmitterEngine,
  type SubmitterEngine,
} from './submitter/submitterEngine.js'
import { checkSealKeys } from './verbs/checkSealKeys.js'
import { openStore } from './verbs/openStore.js'

/**
 * What all methods of one `createOrders` object share: the opened store, the
 * submitter engine and the way to close them.
 */
export type Instance = {
  /**
   * Opens the store on the first call. Later calls read the shop's recipients
   * again if they changed. After a failure, the next call tries again.
   */
  open(): Promise<void>
  /**
   * Opens the store and checks that there is a key for every secret in it.
   *
   * @throws {@link OrdersSetupError} when a key is missing.
   */
  openSealed(): Promise<void>
  /**
   * Returns the engine that drives the submitters. Creates it on the first
   * call.
   */
  drive(): SubmitterEngine
  /**
   * Runs the work of a public method: checks its parameter, opens the store,
   * and reports the duration and outcome to `observe`.
   */
  perform<result>(
    name: string,
    given: unknown,
    work: () => Promise<result>,
  ): Promise<result>
  /**
   * Like `perform`, for work that yields its result in pieces. The work starts
   * when the caller asks for the first piece.
   */
  stream<piece>(
    name: string,
    given: unknown,
    work: () => AsyncIterable<piece>,
  ): AsyncGenerator<piece>
  /** Makes `close` wait for this work before it closes the store. */
  hold<result>(work: Promise<result>): Promise<result>
  close(): Promise<void>
  /** Aborts when `close` is called. */
  closing: AbortSignal
}

/**
 * Methods that encrypt or decrypt secrets, so they need every sealing key. The
 * others work without the keys.
 */
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
  const openFirst = loadOnce(() => openStore(context))
  const checkFirst = loadOnce(() => checkSealKeys(context))
  let engine: SubmitterEngine | undefined
  const going = new Set<Promise<unknown>>()
  const closing = new AbortController()
  const open = async () => {
    await openFirst()
    await context.shop.refresh()
  }
  const openSealed = async () => {
    await open()
    await checkFirst()
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
    closing: closing.signal,
    close: async () => {
      closing.abort()
      const ended = Promise.all([engine?.stop(), Promise.allSettled(going)])
      await endWithin(ended, lastAnswers + 2 * lastWrites)
      await endWithin(context.store.close(), lastWrites)
    },
  }
}

/**
 * Waits until the work ends, but at most this long, so that work that hangs
 * cannot block `close`.
 */
async function endWithin(
  work: Promise<unknown>,
  milliseconds: number,
): Promise<void> {
  await inTime<unknown>(work, milliseconds, () => undefined)
}

/**
 * Refuses a parameter that is not an object, because callers may use plain
 * JavaScript.
 */
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
  // Report no name of a foreign error, because it could contain anything, even
  // a secret.
  const known = error instanceof CountersignError
  return { ok: false, error: known ? error.name : 'Error' }
}

/**
 * Picks `ok`, `reason` and `status` from a method's result, as attributes of
 * the report to `observe`.
 */
function outcomeOf(result: unknown): Record<string, string | boolean> {
  const { ok = true, reason, status } = Object(result)
  return {
    ok: ok === true,
    ...(typeof reason === 'string' ? { reason } : {}),
    ...(typeof status === 'string' ? { status } : {}),
  }
}

/**
 * Ends a method's work when its signal aborts: drops requests that nodes have
 * not answered, and sends no further ones.
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
  checkSignal(signal)
  signal.throwIfAborted()
  try {
    return await verb(endingContext(context, signal), parameters)
  } catch (error) {
    signal.throwIfAborted()
    throw error
  }
}
