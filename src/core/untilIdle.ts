import { onAbort } from './onAbort.js'
import { inTime, wait } from './wait.js'

/** What a loop says about its next work. */
export type LoopState = {
  /** `performance.now()` of its next look; 0 while it works. */
  nextLook: number
  /** True when the next look continues nothing that has begun. */
  isIdle: boolean
}

export type TrackedLoop = {
  state(): LoopState
  /** Makes the loop look whether there is work. */
  wake(): void
}

/** Where a worker adds its loops, for {@link runUntilIdle}. */
export type TrackedLoops = {
  add(loop: TrackedLoop): void
  /** Says that all loops were added. */
  complete(): void
}

/** The state of a loop that works. */
export const working: LoopState = { nextLook: 0, isIdle: false }

/** The state of a loop that waits until it is woken. */
export const idle: LoopState = {
  nextLook: Number.POSITIVE_INFINITY,
  isIdle: true,
}

/** The loops of each worker that `runUntilIdle` started, by its signal. */
const tracked = /* @__PURE__ */ new WeakMap<AbortSignal, TrackedLoops>()

/**
 * Returns where a worker adds its loops. They are watched only if `signal` is
 * from `runUntilIdle`.
 */
export const trackLoops = (signal: AbortSignal): TrackedLoops =>
  tracked.get(signal) ?? openLoops()

/** True for the signal of a worker that `runUntilIdle` started. */
export const endsWhenIdle = (signal: AbortSignal): boolean =>
  tracked.has(signal)

function openLoops(): TrackedLoops & TrackedLoop {
  const loops: TrackedLoop[] = []
  let isComplete = false
  return {
    add: (loop) => {
      loops.push(loop)
    },
    complete: () => {
      isComplete = true
    },
    state: () => (isComplete ? stateOfAll(loops) : working),
    wake: () => {
      for (const loop of loops) loop.wake()
    },
  }
}

function stateOfAll(loops: readonly TrackedLoop[]): LoopState {
  const states = loops.map((loop) => loop.state())
  return {
    nextLook: Math.min(...states.map(({ nextLook }) => nextLook)),
    isIdle: states.every(({ isIdle }) => isIdle),
  }
}

/** Something that works until its signal aborts. */
export type Worker = (run: { signal: AbortSignal }) => Promise<void>

type RunUntilIdleParameters = {
  /** When to end at the latest, by `performance.now()`. */
  until: number
  signal?: AbortSignal | undefined
}

/**
 * Milliseconds that workers have to end. They end in 5 seconds by themselves, or
 * in 15 if they deliver webhooks.
 */
const longestEnd = 20_000

/** Milliseconds between two checks. */
const checkEvery = 20

/**
 * How often all loops look again once all are idle: one may find what another
 * wrote in its last look, and a third what that one wrote then.
 */
const lastLooks = 3

/**
 * Runs workers until all of their loops are idle or rest until after `until`.
 * Then aborts their signals, and waits at most 20 seconds for them to end. Also
 * ends them at `until`, and when `signal` aborts. A worker that tracks no loops
 * works until it ends.
 *
 * @returns `performance.now()` of the next look of any loop: `Infinity` if all
 * wait to be woken, 0 if one worked.
 * @throws the error of a worker that failed; the others have ended then.
 */
export async function runUntilIdle(
  workers: readonly Worker[],
  { until, signal }: RunUntilIdleParameters,
): Promise<number> {
  const ending = new AbortController()
  const running = workers.map((worker) => startWorker(worker, ending))
  const ended = Promise.allSettled(running.map((one) => one.ended))
  const forget = signal && onAbort(signal, () => ending.abort())
  if (signal?.aborted) ending.abort()
  let nextLook = 0
  for (let looks = 0; !ending.signal.aborted; ) {
    await wait(checkEvery, ending.signal)
    const states = running.map((one) => one.state())
    nextLook = Math.min(...states.map((one) => one.nextLook))
    if (performance.now() >= until) break
    if (nextLook === 0) continue
    const isDone = states.every((one) => one.isIdle || one.nextLook > until)
    if (isDone && looks === lastLooks) break
    looks = isDone ? looks + 1 : 0
    if (isDone) for (const one of running) one.wake()
  }
  ending.abort()
  forget?.()
  const ends = await inTime(ended, longestEnd, () => [])
  for (const end of ends) if (end.status === 'rejected') throw end.reason
  return nextLook
}

/** Starts a worker. If it fails, all end. */
function startWorker(worker: Worker, ending: AbortController) {
  const own = new AbortController()
  onAbort(ending.signal, () => own.abort())
  const loops = openLoops()
  tracked.set(own.signal, loops)
  let isOver = false
  const run = async () => {
    try {
      await worker({ signal: own.signal })
    } catch (error) {
      ending.abort()
      throw error
    } finally {
      isOver = true
    }
  }
  const state = () => (isOver ? idle : loops.state())
  return { ended: run(), state, wake: loops.wake }
}
