import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { growingPause } from '../core/keepTrying.js'
import { wait } from '../core/wait.js'
import {
  type Asking,
  askOnce,
  type ClientFailure,
  either,
  parseAnswer,
  pauseOf,
  pauses,
  readAnswer,
} from './ask.js'
import { ServerError } from './errors.js'
import { isHeader, type Line, parseHeader } from './line.js'
import { type PieceReader, readPieces } from './readPieces.js'

/** Parameters of `follow`, for buyers and merchants. */
export type FollowParameters = {
  /**
   * The `id` of the last event that you have. The stream continues after it.
   */
  after?: string | undefined
  /** Called each time the stream opens: at first, and after each failure. */
  onOpen?: (() => void) | undefined
  signal?: AbortSignal | undefined
}

/**
 * Milliseconds without a byte after which the connection counts as lost and is
 * opened again. The server sends something every 15 s.
 */
const silence = 40_000

/** Most characters of one event. Those of `countersign/http` are far shorter. */
const longestEvent = 1_000_000

/** An event of a stream, with what its JSON describes. */
type StreamEvent<data> = Omit<EventSourceMessage, 'data'> & { data: data }

/**
 * Yields the events of a stream. Whenever the connection breaks or falls
 * silent, opens it again with the id of the last event. Ends when the server
 * sends the event `end`.
 *
 * @throws {@link ProblemError} {@link ServerError} when a retry is useless.
 * @throws {@link InvalidFieldError} when no header can contain `after`.
 * @throws the reason of `signal` when that aborts.
 */
export async function* followStream<data>(
  line: Line,
  path: string,
  { after, onOpen, signal }: FollowParameters,
): AsyncGenerator<StreamEvent<data>, void> {
  let id = after && parseHeader(after, 'after')
  for (let failures = 1; ; failures++) {
    let pause: number | undefined = growingPause(failures, pauses)
    const headers = id === undefined ? {} : { 'last-event-id': id }
    try {
      const asked = { path, headers, signal }
      for await (const message of readStream(line, asked, onOpen)) {
        signal?.throwIfAborted()
        const { event } = message
        if (event === 'end') return
        const read = readAnswer(line, path, () => parseEvent<data>(message))
        id = read.id ?? id
        // Counts failures in a row. The event `status` does not end the row,
        // because each connection begins with it, even one that breaks right
        // after.
        if (event !== 'status') failures = 0
        yield read
      }
    } catch (error) {
      signal?.throwIfAborted()
      pause = pauseOf(error, failures)
      if (pause === undefined) throw error
      // The cast is safe: `pauseOf` returns a pause only for a `ClientFailure`.
      line.onRetry(error as ClientFailure)
    }
    // Varies the pause at random, so that not all clients ask a restarted
    // server at the same time.
    const spread = 0.75 + Math.random() / 2
    await wait(pause * spread, signal)
    signal?.throwIfAborted()
  }
}

/**
 * Parses an event.
 *
 * @throws a `SyntaxError` when its data is no JSON, or its id could not be sent
 * back, so that the stream could never go on after it.
 */
function parseEvent<data>(message: EventSourceMessage): StreamEvent<data> {
  if (!isHeader(message.id ?? '')) throw new SyntaxError()
  return { ...message, data: parseAnswer<data>(message.data) }
}

/**
 * Yields the events of one connection, until it ends, breaks or is silent for
 * 40 seconds.
 */
async function* readStream(
  line: Line,
  { signal, ...asking }: Asking,
  onOpen: (() => void) | undefined,
): AsyncGenerator<EventSourceMessage, void> {
  const silent = new AbortController()
  const ended = either(signal, silent.signal)
  let timer: ReturnType<typeof setTimeout> | undefined
  const listen = () => {
    clearTimeout(timer)
    timer = setTimeout(() => silent.abort(), silence)
  }
  const events = createEvents()
  let reader: PieceReader | undefined
  listen()
  try {
    reader = await askOnce(line, { ...asking, signal: ended }, openReader)
    onOpen?.()
    const pieces = readPieces(reader, ended)
    for (;;) {
      listen()
      const { done, value } = await pieces.next().catch(() => {
        throw new ServerError({ request: `GET ${line.url}${asking.path}` })
      })
      // Stops the timer while the caller handles the events, because the server
      // is not silent then.
      clearTimeout(timer)
      if (done) return
      yield* readAnswer(line, asking.path, () => events.take(value))
    }
  } finally {
    clearTimeout(timer)
    reader?.cancel().catch(() => undefined)
  }
}

/** Finds the events in the pieces of a stream. */
function createEvents(): {
  /**
   * Takes the next piece, and returns the events that end in it.
   *
   * @throws a `SyntaxError` when an event is too long.
   */
  take(piece: string): EventSourceMessage[]
} {
  const events: EventSourceMessage[] = []
  let line = ''
  /** Characters since the last event, without comments. */
  let length = 0
  const parser = createParser({
    onEvent: (event) => {
      events.push(event)
      length = 0
    },
    onComment: (text) => {
      length = Math.max(0, length - text.length - 2)
    },
  })
  return {
    take: (piece) => {
      length += piece.length
      line += piece
      // The parser scans an unfinished line again with each piece, so it gets
      // the line once it has an end.
      if (/[\r\n]/.test(piece)) {
        parser.feed(line)
        line = ''
      }
      if (length > longestEvent) throw new SyntaxError()
      return events.splice(0)
    },
  }
}

/**
 * Throws a `SyntaxError` if the answer is not an event stream. `askOnce` then
 * reports that the answer is not from `countersign/http`, as it does for
 * malformed JSON.
 */
function openReader({ body, headers }: Response): PieceReader {
  const type = headers.get('content-type') ?? ''
  if (!body || !type.startsWith('text/event-stream')) throw new SyntaxError()
  return body.getReader()
}
