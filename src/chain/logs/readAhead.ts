import { endOnAbort, onAbort } from '../../core/onAbort.js'
import { nextTurn } from '../../core/wait.js'

/** Reads pieces before they are needed. */
export type ReadAhead<piece, answer> = {
  readonly size: number
  /** Starts to read a piece, after those started before. */
  start(piece: piece): void
  /**
   * Waits for the first piece. If it failed early, reads it again: the fault
   * may be over by now.
   */
  take(): Promise<{ piece: piece; answer: answer } | undefined>
  /** Aborts and forgets all pieces. */
  drop(): void
  /** Like `drop`, for good. */
  close(): void
}

type Reading<piece, answer> = {
  piece: piece
  hasFailed: boolean
  /**
   * Never rejects: otherwise a piece that nobody takes would be an unhandled
   * rejection.
   */
  settled: Promise<{ answer: answer } | { error: unknown }>
}

/** Call `close` at the end, however it ends. */
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
      // A batch transport would send pieces of one tick as one request: the
      // first piece could only be used when the last one is there.
      const begun = turn
      // Two turns: in the first one, the transport may send after this code
      // goes on.
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
