import { endOnAbort, onAbort } from '../../core/onAbort.js'
import { nextTurn } from '../../core/wait.js'

/** A queue of pieces, whose logs are read before the caller asks for them. */
export type ReadAhead<piece, answer> = {
  readonly size: number
  /** Adds a piece and starts to read it. */
  start(piece: piece): void
  /**
   * Waits for the first piece of the queue. If reading it had failed before
   * this call, reads it again: the fault may have been temporary.
   */
  take(): Promise<{ piece: piece; answer: answer } | undefined>
  /** Aborts all reads and forgets their pieces. */
  drop(): void
  /** Like `drop`, and also unregisters from the signal. */
  close(): void
}

type Reading<piece, answer> = {
  piece: piece
  hasFailed: boolean
  /**
   * Resolves to an error instead of rejecting: a piece that nobody takes would
   * otherwise be an unhandled rejection.
   */
  settled: Promise<{ answer: answer } | { error: unknown }>
}

/**
 * Creates a queue that reads ahead. Always `close` it, also after an error:
 * otherwise its listener stays on the signal.
 */
export function readAhead<piece, answer>(
  read: (piece: piece, signal: AbortSignal) => Promise<answer>,
  signal: AbortSignal | undefined,
): ReadAhead<piece, answer> {
  let readings: Reading<piece, answer>[] = []
  let ending = new AbortController()
  let turn = Promise.resolve()
  const forget = signal && onAbort(signal, () => ending.abort(signal.reason))
  const drop = () => {
    readings = []
    ending.abort()
    ending = new AbortController()
  }
  return {
    get size() {
      return readings.length
    },
    start(piece) {
      const { signal: end } = ending
      // Starts each piece in its own turn of the event loop. A batching
      // transport would send pieces of the same turn in one request, and the
      // first would arrive only with the last.
      const begun = turn
      // Waits two turns of the event loop, because the transport may send its
      // batch at the end of the first.
      turn = begun.then(nextTurn).then(nextTurn)
      const reading: Reading<piece, answer> = {
        piece,
        hasFailed: false,
        settled: begun
          .then(() => read(piece, end))
          .then(
            (answer) => ({ answer }),
            (error: unknown) => {
              reading.hasFailed = true
              return { error }
            },
          ),
      }
      readings.push(reading)
    },
    async take() {
      const [reading, ...others] = readings
      readings = others
      if (!reading) return undefined
      const { piece } = reading
      signal?.throwIfAborted()
      const result = reading.hasFailed
        ? { answer: await endOnAbort(read(piece, ending.signal), signal) }
        : await endOnAbort(reading.settled, signal)
      if ('error' in result) throw result.error
      return { piece, answer: result.answer }
    },
    drop,
    close() {
      forget?.()
      drop()
    },
  }
}
