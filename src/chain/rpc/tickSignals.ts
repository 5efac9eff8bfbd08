import { onAbort } from '../../core/onAbort.js'
import { soon } from '../../core/wait.js'
import { RpcError } from './errors.js'

type TickSignal = { signal: AbortSignal; leave(): void }

/**
 * Gives all requests of one turn of the event loop the same signal, because
 * viem puts only requests with the same signal into one batch. The signal
 * aborts with the caller's signal. It also aborts after the timeout, because
 * viem before 2.57.5 ignores its own timeout if it gets a signal.
 *
 * @param milliseconds timeout; 0 for none.
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
  /** Number of requests without an answer. */
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

/**
 * Lifts Node's limit of listeners for a signal. viem adds a listener for each
 * request, and Node 20 warns from the eleventh on.
 */
function admitListeners(signal: AbortSignal): void {
  const { process } = Object(globalThis)
  process?.getBuiltinModule?.('node:events')?.setMaxListeners?.(0, signal)
}
