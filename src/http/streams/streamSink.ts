/** How long a stream lives, and how far its reader may fall behind. */
export type SinkLimits = {
  /** Milliseconds between two signs of life. */
  heartbeat: number
  /** Milliseconds after which a stream ends, for the reader to come back. */
  life: number
  /** Bytes that wait for the reader at most. */
  room: number
  /** Milliseconds a reader may leave them lie. */
  patience: number
}

export type OpenSinkParameters = {
  signal: AbortSignal
  limits: SinkLimits
  /** Is called with each sign of life. */
  onHeartbeat: () => void
}

/** Where a stream writes to, and its reader reads from. */
export type StreamSink = {
  response: Response
  /** Aborts when the stream is over, at whichever end. */
  ended: AbortSignal
  /**
   * Resolves when there is room, or the stream is over: one whose reader takes
   * nothing for too long ends.
   */
  waitForRoom(): Promise<void>
  /** Ends the stream instead when there is no room: nothing is piled up. */
  write(frame: string): void
  end(): void
}

const headers = {
  'content-type': 'text/event-stream; charset=utf-8',
  // What compresses on the way would keep each event until there are many.
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
}

export function openSink(parameters: OpenSinkParameters): StreamSink {
  const { signal, limits, onHeartbeat } = parameters
  const encoder = new TextEncoder()
  const ending = new AbortController()
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined
  let tellRoom: () => void = () => undefined
  const body = new ReadableStream<Uint8Array>(
    {
      start: (own) => {
        controller = own
      },
      pull: () => tellRoom(),
      cancel: () => {
        controller = undefined
        end()
      },
    },
    new ByteLengthQueuingStrategy({ highWaterMark: limits.room }),
  )
  const hasRoom = () => (controller?.desiredSize ?? 0) > 0
  const end = () => {
    if (ending.signal.aborted) return
    clearInterval(beat)
    clearTimeout(death)
    signal.removeEventListener('abort', end)
    controller?.close()
    controller = undefined
    ending.abort()
    tellRoom()
  }
  const write = (frame: string) => {
    if (hasRoom()) controller?.enqueue(encoder.encode(frame))
    else end()
  }
  const beat = setInterval(() => {
    // A reader that is behind has enough to show that this end is alive.
    if (hasRoom()) write(':\n\n')
    onHeartbeat()
  }, limits.heartbeat)
  const death = setTimeout(end, limits.life)
  if (signal.aborted) end()
  else signal.addEventListener('abort', end)
  return {
    response: new Response(body, { headers }),
    ended: ending.signal,
    waitForRoom: async () => {
      if (hasRoom()) return
      const late = setTimeout(end, limits.patience)
      while (!ending.signal.aborted && !hasRoom())
        await new Promise<void>((resolve) => {
          tellRoom = resolve
        })
      clearTimeout(late)
    },
    write,
    end,
  }
}
