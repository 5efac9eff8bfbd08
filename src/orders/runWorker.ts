import { hearHeads } from '../chain/state/hearHeads.js'
import { checkMembers } from '../core/checkMembers.js'
import { InvalidFieldError, shown } from '../core/errors.js'
import { growingPause, keepTrying } from '../core/keepTrying.js'
import { startLoop } from '../core/loop.js'
import { observeFailure } from '../core/observeFailure.js'
import { onAbort } from '../core/onAbort.js'
import {
  type LoopState,
  type TrackedLoop,
  type TrackedLoops,
  trackLoops,
  working,
} from '../core/untilIdle.js'
import { wait } from '../core/wait.js'
import type { Submitter } from '../store/types.js'
import type { OrdersContext } from './context/types.js'
import { readerOf } from './evidence/clientOf.js'
import { endingContext } from './loop/endingContext.js'
import { endOnTime } from './loop/endOnTime.js'
import { hearChanges } from './loop/hearChanges.js'
import { type Limit, limitTo } from './loop/limitTo.js'
import type { TaskName } from './loop/putAside.js'
import { OrdersSetupError } from './model/errors.js'
import { openRefundSigner } from './sending/signRefunds.js'
import type { SubmitterEngine } from './submitter/submitterEngine.js'
import { watchChain } from './watcher/watchChain.js'

/** Parameters of `run`: when to end, and how much to do at once. */
export type RunWorkerParameters = {
  /**
   * Ends the worker after its current writes. The worker then waits 3 seconds
   * for nodes and 2 more for the database, which may still finish a write after
   * that.
   */
  signal: AbortSignal
  /**
   * Most submitters of one chain to work on at the same time. A submitter that
   * takes longer than 5 seconds no longer counts, so that another can start.
   * With 1, the submitters and the watcher of the chain take turns.
   * @default 4
   */
  concurrency?: number | undefined
}

/**
 * Implements `run` of `Orders`. Tries again if `open` cannot open the store.
 *
 * @throws {@link OrdersSetupError} when `open` finds that a sealing key is
 * missing.
 * @throws {@link StoreError} when only a restart of the process helps.
 */
export async function runWorker(
  context: OrdersContext,
  engine: SubmitterEngine,
  parameters: RunWorkerParameters,
  open: () => Promise<void> = async () => undefined,
): Promise<void> {
  checkMembers(parameters, ['signal', 'concurrency'])
  const { signal, concurrency = 4 } = parameters
  if (typeof Object(signal).addEventListener !== 'function')
    throw new InvalidFieldError('signal', signal, 'an AbortSignal')
  if (!Number.isSafeInteger(concurrency) || concurrency < 1)
    throw new InvalidFieldError(
      'concurrency',
      shown(concurrency),
      'a positive integer',
    )
  const loops = trackLoops(signal)
  const signals = [signal, engine.stopping]
  const runUntil: Parameters<typeof endOnTime>[1] = async (ends) => {
    const { ending, letGo } = ends
    await openPatiently(context, open, ending)
    await work(endingContext(context, letGo), engine, {
      signal: ending,
      concurrency,
      loops,
    })
  }
  await endOnTime(signals, runUntil, context.store.lost)
}

/**
 * Milliseconds between tries to open the store; the pause grows from the
 * shortest to the longest.
 */
const openPauses = { shortest: 100, longest: 30_000 }

/** Opens the store. Tries again after each failure, until the signal aborts. */
async function openPatiently(
  context: OrdersContext,
  open: () => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const pauseAfter = (error: unknown, failures: number) => {
    // A wrong configuration stays wrong, so do not try again.
    if (error instanceof OrdersSetupError) return undefined
    observeFailure(context, 'store.failed', { about: {}, error })
    return growingPause(failures, openPauses)
  }
  await keepTrying(open, pauseAfter, signal).catch((error: unknown) => {
    if (!signal.aborted) throw error
  })
}

type Shift = {
  signal: AbortSignal
  concurrency: number
  /** Where to add all loops. */
  loops: TrackedLoops
}

/**
 * Works on all chains in parallel, so that a chain whose node does not answer
 * delays no other.
 */
async function work(
  context: OrdersContext,
  engine: SubmitterEngine,
  shift: Shift,
): Promise<void> {
  const chainIds = new Set(context.tokens.map(({ chainId }) => chainId))
  const shifts = [...chainIds].map((chainId) =>
    workChain(context, engine, chainId, shift),
  )
  shift.loops.complete()
  await Promise.all(shifts)
}

/**
 * Works on one chain. Submitters and the watcher have separate limits of
 * concurrent work, so that neither delays the other, unless `concurrency` is 1.
 */
async function workChain(
  context: OrdersContext,
  engine: SubmitterEngine,
  chainId: number,
  { signal, concurrency, loops }: Shift,
): Promise<void> {
  const looks = limitTo(concurrency)
  const sends = concurrency === 1 ? looks : limitTo(concurrency)
  const watcher = startWatcher(context, chainId, { signal, limit: looks })
  const submitters = context.wallets
    .map(({ submitter }) => submitter)
    .filter((submitter) => submitter.chainId === chainId)
  const isReady = trackCatchUp(engine, watcher, { submitters, signal })
  loops.add(watcher)
  for (const submitter of submitters)
    loops.add({
      state: () => engine.stateOf(submitter),
      wake: () => engine.wake(submitter),
    })
  await Promise.all([
    watcher.ended,
    ...submitters.map((submitter) =>
      engine.hold(submitter, signal, sends, isReady),
    ),
  ])
}

/**
 * Most milliseconds that orders wait to be sent before the first poll of their
 * chain is over.
 */
const longestCatchUp = 10_000

/**
 * Returns a predicate that is true when orders may be sent: after the first
 * poll of the chain, or after `longestCatchUp`. The first poll may find that
 * others submitted a payment already.
 */
function trackCatchUp(
  engine: SubmitterEngine,
  watcher: Watcher,
  {
    submitters,
    signal,
  }: { submitters: readonly Submitter[]; signal: AbortSignal },
): () => boolean {
  let isReady = false
  const start = () => {
    isReady = true
    for (const submitter of submitters) engine.wake(submitter)
  }
  const over = new AbortController()
  onAbort(signal, () => over.abort())
  void Promise.race([watcher.caughtUp, wait(longestCatchUp, over.signal)]).then(
    start,
  )
  return () => isReady
}

/**
 * Name under which the list of failures holds a failure of a chain's whole
 * watch, rather than of one of its tasks.
 */
const wholeWatch: TaskName = 'watch'

type Watcher = {
  /** Resolves when the first poll is over, even if it failed. */
  caughtUp: Promise<void>
  ended: Promise<void>
} & TrackedLoop

function startWatcher(
  context: OrdersContext,
  chainId: number,
  { signal, limit }: { signal: AbortSignal; limit: Limit },
): Watcher {
  let tellCaughtUp: () => void = () => undefined
  const caughtUp = new Promise<void>((resolve) => {
    tellCaughtUp = resolve
  })
  const watcher = watchChain(context, chainId, {
    signer: openRefundSigner(context),
  })
  const { asides, kept } = watcher
  const aside = asides.chain
  let mood: 'busy' | 'quiet' | 'failed' = 'busy'
  let isIdle = false
  let isNewHead = false
  let lookedAt = performance.now()
  const loop = startLoop(
    {
      limit,
      look: async () => {
        const looked = await watcher.look()
        mood = looked.isQuiet ? 'quiet' : 'busy'
        isIdle = looked.isIdle
        aside.clear(wholeWatch)
        return looked.nextLook
      },
      failed: (error) => {
        mood = 'failed'
        isIdle = false
        return aside.put(wholeWatch, error)
      },
      tell: () => {
        lookedAt = performance.now()
        return asides.save(watcher.lease()).finally(tellCaughtUp)
      },
      // On a quiet chain, a change in the store (a new payment record or an
      // order that is due) starts the next poll early. On a busy chain the next
      // block does, and that poll sees all changes.
      woken: async () => {
        if (mood === 'quiet') return watcher.findNextLook()
        if (mood === 'failed' || !isNewHead) return never
        isNewHead = false
        return lookedAt + leastPause - performance.now()
      },
      lease: { every: context.policy.lease / 3, prolong: kept.prolong },
    },
    signal,
  )
  const stopHeads = hearHeads(readerOf(context, chainId), () => {
    if (mood !== 'busy') return
    isNewHead = true
    loop.wake()
  })
  const forget = hearChanges(context.store, {
    listener: loop.wake,
    isOwn: (by) => by !== undefined && by === watcher.lease()?.key,
  })
  const stopHearing = () => {
    stopHeads()
    forget()
  }
  // Stop listening when the signal aborts, not when the loop ends: a poll that
  // hangs would keep the listener forever.
  if (signal.aborted) stopHearing()
  else onAbort(signal, stopHearing)
  const end = async (): Promise<void> => {
    await loop.ended
    await kept.release()
  }
  const state = (): LoopState => {
    const nextLook = loop.nextLook()
    return nextLook === 0
      ? working
      : { nextLook, isIdle: isIdle && !asides.isTrying() }
  }
  return { caughtUp, ended: end(), state, wake: loop.wake }
}

const never = Number.POSITIVE_INFINITY

/** Least milliseconds between two polls, even if new blocks arrive faster. */
const leastPause = 500
