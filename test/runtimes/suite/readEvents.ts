/** An event of a stream, as its lines have it. */
type StreamEvent = { id?: string; event?: string; data?: string }

export type EventReader = {
  /** Reads on until an event of this type. */
  next(type: string): Promise<StreamEvent>
  cancel(): Promise<void>
}

/** Reads a stream of events as a page does that sends a token along. */
export function readEvents({ body, status }: Response): EventReader {
  if (!body) throw new Error(`no stream but ${status}`)
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  const nextBlock = async (): Promise<string> => {
    for (;;) {
      const end = text.indexOf('\n\n')
      if (end >= 0) {
        const block = text.slice(0, end)
        text = text.slice(end + 2)
        return block
      }
      const { value, done } = await reader.read()
      if (done) throw new Error(`the stream ended with ${text}`)
      text += decoder.decode(value, { stream: true })
    }
  }
  return {
    next: async (type) => {
      for (;;) {
        const lines = (await nextBlock()).split('\n')
        const fields = lines.map((line) => line.split(/: (.*)/, 2))
        const event: StreamEvent = Object.fromEntries(fields)
        if (event.event === type) return event
      }
    },
    cancel: () => reader.cancel(),
  }
}
