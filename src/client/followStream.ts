import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { growingPause } from '../core/keepTrying.js'
import { wait } from '../core/wait.js'
import {
  type Asking,
  askOnce,
  type ClientFailure,
  either,
  pauseOf,
  pauses,
} from './ask.js'
import { ServerError } from './errors.js'
import type { Line } from './line.js'

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

/**
 * Yields the events of a stream. Whenever the connection breaks or falls
 * silent, opens it again with the id of the last event. Ends when the server
 * sends the event `end`.
 *
 * @throws {@link ProblemError} {@link ServerError} when a retry is useless.
 * @throws the reason of `signal` when that aborts.
 */
export async function* followStream(
  line: Line,
  path: string,
  { after, onOpen, signal }: FollowParameters,
): AsyncGenerator<EventSourceMessage, void> {
  let id = after
  for (let failures = 1; ; failures++) {
    let pause: number | undefined = growingPause(failures, pauses)
    const headers = id === undefined ? {} : { 'last-event-id': id }
    try {
      const asked = { path, headers, signal }
      for await (const message of readStream(line, asked, onOpen)) {
        const { event } = message
        id = message.id ?? id
        if (event === 'end') return
        // Counts failures in a row. The event `status` does not end the row,
        // because each connection begins with it, even one that breaks right
        // after.
        if (event !== 'status') failures = 0
        yield message
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
 * Yields the events of one connection, until it ends, breaks or is silent for
 * 40 seconds.
 */
async function* readStream(
  line: Line,
  { signal, ...asking }: Asking,
  onOpen: (() => void) | undefined,
): AsyncGenerator<EventSourceMessage, void> {
  const silent = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const listen = () => {
    clearTimeout(timer)
    timer = setTimeout(() => silent.abort(), silence)
  }
  const messages: EventSourceMessage[] = []
  const parser = createParser({ onEvent: (event) => messages.push(event) })
  const decoder = new TextDecoder()
  let reader: Reader | undefined
  listen()
  try {
    reader = await askOnce(
      line,
      { ...asking, signal: either(signal, silent.signal) },
      openReader,
    )
    onOpen?.()
    for (;;) {
      listen()
      const { done, value } = await reader.read().catch(() => {
        throw new ServerError({ request: `GET ${line.url}${asking.path}` })
      })
      // Stops the timer while the caller handles the events, because the server
      // is not silent then.
      clearTimeout(timer)
      if (done) return
      parser.feed(decoder.decode(value, { stream: true }))
      yield* messages.splice(0)
    }
  } finally {
    clearTimeout(timer)
    reader?.cancel().catch(() => undefined)
  }
}

type Reader = ReadableStreamDefaultReader<Uint8Array>

/**
 * Throws a `SyntaxError` if the answer is not an event stream. `askOnce` then
 * reports that the answer is not from `countersign/http`, as it does for
 * malformed JSON.
 */
function openReader({ body, headers }: Response): Reader {
  const type = headers.get('content-type') ?? ''
  if (!body || !type.startsWith('text/event-stream')) throw new SyntaxError()
  return body.getReader()
}
