import type { Client } from 'viem'
import { hearHeads } from '../chain/state/hearHeads.js'
import { checkMembers, type MembersOf } from '../core/checkMembers.js'
import { InvalidFieldError, shown } from '../core/errors.js'
import { growingPause, keepTrying } from '../core/keepTrying.js'
import { onAbort } from '../core/onAbort.js'
import { wait } from '../core/wait.js'
import type { PaymentStore, Submitter } from '../store/types.js'
import { endOnTime } from './endOnTime.js'
import { readerOf } from './evidence/clientOf.js'
import { endingContext } from './evidence/endingContext.js'
import { OrdersSetupError } from './model/errors.js'
import { type Limit, limitTo } from './model/limitTo.js'
import { observeFailure } from './model/observeFailure.js'
import type { OrdersContext } from './model/types.js'
import type { SubmitterEngine } from './submitter/submitterEngine.js'
import { type ChainWatcher, watchChain } from './watcher/watchChain.js'

/** Parameters of `run`. */
export type RunWorkerParameters = {
  /**
   * Ends the worker after its current writes. It waits 3 seconds for nodes and
   * 2 more for the database, which may still finish a write after that.
   */
  signal: AbortSignal
  /**
   * Most submitters of one chain to work on at the same time. A submitter that
   * takes longer than 5 seconds makes room for another. With 1, the submitters
   * and the watch of the chain take turns. @default 4
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
      shown(concurrency),
      'a positive integer',
    )
  const signals = [signal, engine.stopping]
  await endOnTime(signals, async ({ ending, letGo }) => {
    await openPatiently(context, open, ending)
    await work(endingContext(context, letGo), engine, {
      signal: ending,
      concurrency,
    })
  })
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
    // Trying again does not help: the configuration is wrong.
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
  const looks = limitTo(concurrency)
  const sends = concurrency === 1 ? looks : limitTo(concurrency)
  const watcher = startWatcher(context, chainId, { signal, limit: looks })
  const submitters = context.wallets
    .map(({ submitter }) => submitter)
    .filter((submitter) => submitter.chainId === chainId)
  const isReady = trackCatchUp(engine, watcher, { submitters, signal })
  await Promise.all([
    watcher.ended,
    ...submitters.map((submitter) =>
      engine.hold(submitter, signal, sends, isReady),
    ),
  ])
}

/** Most milliseconds that orders wait for the first look at their chain. */
const longestCatchUp = 10_000

/**
 * Returns a predicate that is true when orders may be sent: after the first
 * look at the chain, or after `longestCatchUp`.
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

/** Name in `aside` for a failure of the whole watch of a chain. */
const wholeWatch = 'watch'

type Watcher = {
  /** Resolves when the first look is over, even if it failed. */
  caughtUp: Promise<void>
  ended: Promise<void>
}

function startWatcher(
  context: OrdersContext,
  chainId: number,
  { signal, limit }: { signal: AbortSignal; limit: Limit },
): Watcher {
  let tellCaughtUp: () => void = () => undefined
  const caughtUp = new Promise<void>((resolve) => {
    tellCaughtUp = resolve
  })
  const watcher = watchChain(context, chainId)
  const { asides } = watcher
  const changes = hearChanges(context.store, () => watcher.lease()?.key)
  const blocks = hearBlocks(readerOf(context, chainId))
  // Its own signal: Node warns of a leak above ten listeners on one signal.
  const pausing = new AbortController()
  onAbort(signal, () => pausing.abort())
  const watch = async (): Promise<void> => {
    while (!signal.aborted) {
      const looked = await tryLook(watcher, { signal, limit })
      await asides.save(watcher.lease()).catch(() => undefined)
      tellCaughtUp()
      await waitForLook(context, watcher, {
        changes,
        blocks,
        looked,
        signal: pausing.signal,
      })
    }
    tellCaughtUp()
    changes.stop()
    blocks.stop()
    const lease = watcher.lease()
    if (lease) await context.store.releaseLease(lease).catch(() => undefined)
  }
  return { caughtUp, ended: watch() }
}

/** What a worker knows after a look. */
type Looked = {
  pause: number
  isQuiet: boolean
  /** True if the look failed: another process may take the watch meanwhile. */
  isFailed: boolean
}

async function tryLook(
  watcher: ChainWatcher,
  { signal, limit }: { signal: AbortSignal; limit: Limit },
): Promise<Looked> {
  const { chain: aside } = watcher.asides
  try {
    // The signal may have aborted while this look waited for a place.
    const look = async () => (signal.aborted ? undefined : watcher.look())
    const { nextLook = 0, isQuiet = false } = (await limit(look)) ?? {}
    aside.clear(wholeWatch)
    return { pause: nextLook, isQuiet, isFailed: false }
  } catch (error) {
    const pause = aside.put(wholeWatch, error)
    return { pause, isQuiet: false, isFailed: true }
  }
}

/** Milliseconds between two checks of a store that does not report changes. */
const askEvery = 1000

/** Milliseconds to wait after a change, so that one check covers several. */
const changesWithin = 200

/**
 * Listens to changes of the store from now on, if the store reports them, but
 * not to those under the watch's own lease.
 */
function hearChanges(
  { onChange }: Pick<PaymentStore, 'onChange'>,
  ownKey: () => string | undefined,
): {
  /**
   * Waits for a change since the last wait, at most until this time. Returns
   * true if there may have been one.
   */
  wait(until: number, signal: AbortSignal): Promise<boolean>
  stop(): void
} {
  let isChanged = false
  let wake: () => void = () => undefined
  const stop = onChange?.((by) => {
    if (by !== undefined && by === ownKey()) return
    isChanged = true
    wake()
  })
  return {
    wait: async (until, signal) => {
      const rest = until - performance.now()
      const longest = stop ? rest : Math.min(rest, askEvery)
      const over = new AbortController()
      const forget = onAbort(signal, () => over.abort())
      wake = () => over.abort()
      if (!isChanged) await wait(longest, over.signal)
      forget()
      if (stop && !isChanged) return false
      await wait(Math.min(changesWithin, until - performance.now()), signal)
      isChanged = false
      return true
    },
    stop: () => stop?.(),
  }
}

/** Least milliseconds between two looks, however fast new blocks come. */
const leastPause = 500

/** Listens to new blocks from now on, if the client has a WebSocket. */
function hearBlocks(client: Client): {
  /**
   * Waits for a new block since the last wait, at most until this time. Returns
   * true if there was one.
   */
  wait(until: number, signal: AbortSignal): Promise<boolean>
  stop(): void
} {
  let isNew = false
  let wake: () => void = () => undefined
  const stop = hearHeads(client, () => {
    isNew = true
    wake()
  })
  return {
    wait: async (until, signal) => {
      const over = new AbortController()
      const forget = onAbort(signal, () => over.abort())
      wake = () => over.abort()
      if (!isNew) await wait(until - performance.now(), over.signal)
      forget()
      const wasNew = isNew
      isNew = false
      return wasNew
    },
    stop,
  }
}

/**
 * Waits until the next look, and prolongs the lease meanwhile, unless the last
 * look failed. While the chain is quiet, asks the database again when its rows
 * change, because a new proof or an order that is due shortens the pause. While
 * it is not, a new block ends the pause.
 */
async function waitForLook(
  { policy }: Pick<OrdersContext, 'policy'>,
  watcher: ChainWatcher,
  {
    changes,
    blocks,
    looked: { pause, isQuiet, isFailed },
    signal,
  }: {
    changes: ReturnType<typeof hearChanges>
    blocks: ReturnType<typeof hearBlocks>
    looked: Looked
    signal: AbortSignal
  },
): Promise<void> {
  if (isFailed) return wait(pause, signal)
  const step = policy.lease / 3
  const began = performance.now()
  let until = began + pause
  // The next look takes the lease again, and is usually soon enough.
  let prolongAt = performance.now() + (pause < 2 * step ? pause : step)
  while (!signal.aborted && performance.now() < until) {
    const end = Math.min(until, prolongAt)
    let isChanged = false
    if (isQuiet) isChanged = await changes.wait(end, signal)
    else if (await blocks.wait(end, signal))
      until = Math.min(until, began + leastPause)
    if (signal.aborted || performance.now() >= until) return
    if (performance.now() >= prolongAt) {
      // If the database does not answer, the next look fails and reports it.
      await watcher.prolong().catch(() => undefined)
      prolongAt = performance.now() + step
    }
    if (!isChanged) continue
    const next = await watcher.findNextLook().catch(() => pause)
    until = Math.min(until, performance.now() + next)
  }
}
