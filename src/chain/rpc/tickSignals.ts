import { onAbort } from '../../core/onAbort.js'
import { soon } from '../../core/wait.js'
import { RpcError } from './errors.js'

/** The signal of what is asked now, until it is answered. */
type TickSignal = { signal: AbortSignal; leave(): void }

/**
 * Gives all that is asked in one tick one signal, by which viem batches. It
 * aborts with another one, and when the time is over: under a signal, viem before
 * 2.57.5 does not look at its own.
 *
 * @param milliseconds for an answer; 0 for as long as it takes.
 */
export function tickSignals(
  end: AbortSignal,
  milliseconds = 0,
): () => TickSignal {
  let current: Tick | undefined
  const begin = (): Tick => {
    const tick = startTick(end, milliseconds)
    soon(() => {
      current = undefined
      if (tick.open === 0) tick.close()
    })
    return tick
  }
  return () => {
    current ??= begin()
    const tick = current
    tick.open++
    const leave = () => {
      tick.open--
      if (tick.open === 0 && tick !== current) tick.close()
    }
    return { signal: tick.signal, leave }
  }
}

type Tick = {
  signal: AbortSignal
  /** What is not answered yet. */
  open: number
  close(): void
}

function startTick(end: AbortSignal, milliseconds: number): Tick {
  const over = new AbortController()
  admitListeners(over.signal)
  const words = `no answer in ${milliseconds} ms`
  const late = () => over.abort(new RpcError({ words }))
  const timer = milliseconds > 0 ? setTimeout(late, milliseconds) : undefined
  const forget = onAbort(end, () => over.abort())
  const close = () => {
    clearTimeout(timer)
    forget()
  }
  return { signal: over.signal, open: 0, close }
}

/** viem listens once for each request; Node 20 warns of a leak at eleven. */
function admitListeners(signal: AbortSignal): void {
  const { process } = Object(globalThis)
  process?.getBuiltinModule?.('node:events')?.setMaxListeners?.(0, signal)
}
