/** How long a stream lasts, and how far its reader may fall behind. */
export type SinkLimits = {
  /**
   * Milliseconds between two comment lines. Proxies close connections that are
   * silent for long, and the comments prevent that.
   */
  heartbeat: number
  /**
   * Milliseconds after which the server ends a stream. The client then
   * reconnects.
   */
  life: number
  /** Most bytes that may wait for the client to read them. */
  room: number
  /** Milliseconds that the buffer may stay full before the stream ends. */
  patience: number
}

export type OpenSinkParameters = {
  signal: AbortSignal
  limits: SinkLimits
  onHeartbeat: () => void
}

/** The server's side of a stream, with the response that the client gets. */
export type StreamSink = {
  response: Response
  /** Aborts when the stream ends, for whatever reason. */
  ended: AbortSignal
  /**
   * Resolves when the buffer has room or the stream has ended. Ends the stream
   * when the buffer stays full for too long.
   */
  waitForRoom(): Promise<void>
  /** Writes, or ends the stream when the buffer is full. */
  write(frame: string): void
  end(): void
}

const headers = {
  'content-type': 'text/event-stream; charset=utf-8',
  // `no-transform` stops proxies from compressing the stream: a compressor
  // would hold back events until it has enough text.
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
    // Sends a heartbeat only if nothing waits. Waiting data keeps the
    // connection open too, and a write to a full buffer would end the stream.
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
