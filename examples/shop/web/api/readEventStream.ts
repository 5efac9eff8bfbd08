type StreamEvent = {
  /** What to go on from. */
  id: string | undefined
  type: string
  data: string
}

/**
 * Reads `text/event-stream` as it arrives, signs of life included; fetch can
 * send a token, where EventSource cannot.
 */
export async function* readEventStream(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
): AsyncGenerator<StreamEvent> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      const frames = `${rest}${value}`.split('\n\n')
      rest = frames.pop() ?? ''
      for (const frame of frames) yield readFrame(frame)
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

function readFrame(frame: string): StreamEvent {
  const event: StreamEvent = { id: undefined, type: 'message', data: '' }
  for (const line of frame.split('\n')) {
    const [, field, value = ''] = /^(\w+): ?(.*)$/.exec(line) ?? []
    if (field === 'id') event.id = value
    else if (field === 'event') event.type = value
    else if (field === 'data') event.data += value
  }
  return event
}
