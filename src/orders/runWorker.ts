import type { Address } from 'viem'
import { checkMembers, type MembersOf } from '../core/checkMembers.js'
import { InvalidFieldError } from '../core/errors.js'
import { growingPause, keepTrying } from '../core/keepTrying.js'
import { onAbort } from '../core/onAbort.js'
import { wait } from '../core/wait.js'
import type { Destination, Submitter } from '../store/types.js'
import {
  endingContext,
  lastAnswers,
  lastWrites,
} from './evidence/endingContext.js'
import { limitTo } from './limitTo.js'
import { OrdersSetupError } from './model/errors.js'
import { observeFailure } from './model/observeFailure.js'
import type { OrdersContext } from './model/types.js'
import type { Limit } from './submitter/driver.js'
import type { SubmitterEngine } from './submitter/submitterEngine.js'
import { watchDestination } from './watcher/watchDestination.js'

/** Parameters of `run`. */
export type RunWorkerParameters = {
  /**
   * Ends the worker after its current writes. It waits 3 seconds for nodes and
   * 2 more for the database, which may still finish a write after that.
   */
  signal: AbortSignal
  /**
   * Most submitters of one chain to work on at the same time, and most of its
   * destinations to watch beside them. One that takes longer than 5 seconds
   * makes room for another. With 1, submitters and destinations take turns, one
   * at a time. @default 4
   */
  concurrency?: number | undefined
}

const members: MembersOf<RunWorkerParameters> = {
  signal: true,
  concurrency: true,
}

/**
 * Implements `run` of `Orders`. Tries again if `open` cannot open the store.
 *
 * @throws {@link OrdersSetupError} when `open` finds that a sealing key is
 * missing.
 */
export async function runWorker(
  context: OrdersContext,
  engine: SubmitterEngine,
  parameters: RunWorkerParameters,
  open: () => Promise<void> = async () => undefined,
): Promise<void> {
  checkMembers(parameters, members)
  const { signal, concurrency = 4 } = parameters
  if (typeof Object(signal).addEventListener !== 'function')
    throw new InvalidFieldError('signal', signal, 'an AbortSignal')
  if (!Number.isSafeInteger(concurrency) || concurrency < 1)
    throw new InvalidFieldError(
      'concurrency',
      concurrency,
      'a positive integer',
    )
  const ending = new AbortController()
  const letGo = new AbortController()
  let late: ReturnType<typeof setTimeout> | undefined
  let last: ReturnType<typeof setTimeout> | undefined
  let giveUp: () => void = () => undefined
  const isOver = new Promise<void>((resolve) => {
    giveUp = resolve
  })
  const end = () => {
    ending.abort()
    late ??= setTimeout(() => letGo.abort(), lastAnswers)
    last ??= setTimeout(giveUp, lastAnswers + lastWrites)
  }
  const signals = [signal, engine.stopping]
  if (signals.some(({ aborted }) => aborted)) end()
  for (const one of signals) one.addEventListener('abort', end)
  const working = async () => {
    await openPatiently(context, open, ending.signal)
    await work(endingContext(context, letGo.signal), engine, {
      signal: ending.signal,
      concurrency,
    })
  }
  try {
    await Promise.race([working(), isOver])
  } finally {
    clearTimeout(late)
    clearTimeout(last)
    // Ends searches that went on beside the looks.
    letGo.abort()
    for (const one of signals) one.removeEventListener('abort', end)
  }
}

/** Milliseconds between tries to open the store. */
const openPauses = { shortest: 100, longest: 30_000 }

/** Opens a store and tries again while that fails, until the signal aborts. */
async function openPatiently(
  context: OrdersContext,
  open: () => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const pauseAfter = (error: unknown, failures: number) => {
    // Only another configuration helps.
    if (error instanceof OrdersSetupError) return undefined
    observeFailure(context, 'store.failed', { about: {}, error })
    return growingPause(failures, openPauses)
  }
  await keepTrying(open, pauseAfter, signal).catch((error: unknown) => {
    if (!signal.aborted) throw error
  })
}

/**
 * Works on all chains in parallel: one that does not answer delays no other.
 */
async function work(
  context: OrdersContext,
  engine: SubmitterEngine,
  { signal, concurrency }: { signal: AbortSignal; concurrency: number },
): Promise<void> {
  const chainIds = new Set(context.destinations.map(({ chainId }) => chainId))
  const shifts = [...chainIds].map((chainId) =>
    workChain(context, engine, { chainId, signal, concurrency }),
  )
  await Promise.all(shifts)
}

/**
 * Works on one chain. Submitters and watchers have separate places, so that
 * neither waits for the other, unless `concurrency` is 1.
 */
async function workChain(
  context: OrdersContext,
  engine: SubmitterEngine,
  {
    chainId,
    signal,
    concurrency,
  }: { chainId: number; signal: AbortSignal; concurrency: number },
): Promise<void> {
  const watches = limitTo(concurrency)
  const sends = concurrency === 1 ? watches : limitTo(concurrency)
  const watchers = context.destinations
    .filter((destination) => destination.chainId === chainId)
    .map((destination) =>
      startWatcher(context, destination, { signal, limit: watches }),
    )
  const submitters = context.wallets
    .map(({ submitter }) => submitter)
    .filter((submitter) => submitter.chainId === chainId)
  const isReady = trackCatchUp(engine, watchers, { submitters, signal })
  await Promise.all([
    ...watchers.map(({ ended }) => ended),
    ...submitters.map((submitter) =>
      engine.hold(submitter, signal, sends, isReady),
    ),
  ])
}

/**
 * Most milliseconds that orders wait for the first look at their destination.
 */
const longestCatchUp = 10_000

/**
 * Returns a predicate that is true when orders of a recipient may be sent:
 * after the first look at all its destinations, or after `longestCatchUp`.
 */
function trackCatchUp(
  engine: SubmitterEngine,
  watchers: readonly Watcher[],
  {
    submitters,
    signal,
  }: { submitters: readonly Submitter[]; signal: AbortSignal },
): (recipient: Address) => boolean {
  const behind = new Set(watchers)
  const wake = (ready: readonly Submitter[]) => {
    for (const submitter of ready) engine.wake(submitter)
  }
  for (const watcher of watchers)
    void watcher.caughtUp.then(() => {
      behind.delete(watcher)
      const { recipient } = watcher.destination
      const isItsOwn = ({ account }: Submitter) => account === recipient
      wake(behind.size === 0 ? submitters : submitters.filter(isItsOwn))
    })
  const over = new AbortController()
  onAbort(signal, () => over.abort())
  void wait(longestCatchUp, over.signal).then(() => {
    behind.clear()
    wake(submitters)
  })
  return (recipient) =>
    [...behind].every(({ destination }) => destination.recipient !== recipient)
}

/** Name in `aside` for the whole watch of a destination. */
const wholeWatch = 'watch'

type Watcher = {
  destination: Destination
  /** Resolves when the first look is over, even if it failed. */
  caughtUp: Promise<void>
  ended: Promise<void>
}

function startWatcher(
  context: OrdersContext,
  destination: Destination,
  { signal, limit }: { signal: AbortSignal; limit: Limit },
): Watcher {
  let tellCaughtUp: () => void = () => undefined
  const caughtUp = new Promise<void>((resolve) => {
    tellCaughtUp = resolve
  })
  const watcher = watchDestination(context, destination)
  const { aside } = watcher
  // Its own signal: Node warns of a leak above ten listeners on one signal.
  const pausing = new AbortController()
  onAbort(signal, () => pausing.abort())
  const watch = async (): Promise<void> => {
    while (!signal.aborted) {
      let pause: number
      try {
        // The signal may have aborted while this look waited for a place.
        const look = async () => (signal.aborted ? undefined : watcher.look())
        pause = (await limit(look))?.nextLook ?? 0
        aside.clear(wholeWatch)
      } catch (error) {
        pause = aside.put(wholeWatch, error)
      }
      await aside.save(watcher.lease()).catch(() => undefined)
      tellCaughtUp()
      await wait(pause, pausing.signal)
    }
    tellCaughtUp()
    const lease = watcher.lease()
    if (lease) await context.store.releaseLease(lease).catch(() => undefined)
  }
  return { destination, caughtUp, ended: watch() }
}
