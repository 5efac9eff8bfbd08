/** An event as it came over a stream. */
type Frame = { id?: string; event?: string; data?: unknown }

export type FrameReader = {
  /** The next event; nothing after the last. */
  next(): Promise<Frame | undefined>
  take(count: number): Promise<Frame[]>
  /** All that comes until the stream ends by itself. */
  rest(): Promise<Frame[]>
  /** All text so far, signs of life included. */
  text(): string
  cancel(): Promise<void>
}

/** The first event of a merchant's stream that begins after a cursor. */
export const beginAfter = (cursor: string): Frame => ({
  id: cursor,
  event: 'status',
  data: { type: 'status', cursor },
})

/** Reads a stream of events as a browser does. */
export function readFrames(response: Response | undefined): FrameReader {
  if (!response?.body) throw new Error('no stream')
  const reader = response.body.getReader()
  const decoder = new TextDecoder()
  const chunks: string[] = []
  let text = ''
  const next = async (): Promise<Frame | undefined> => {
    for (;;) {
      const end = text.indexOf('\n\n')
      if (end < 0) {
        const { value, done } = await reader.read()
        if (done) return undefined
        const chunk = decoder.decode(value, { stream: true })
        chunks.push(chunk)
        text += chunk
        continue
      }
      const block = text.slice(0, end)
      text = text.slice(end + 2)
      const frame = frameOf(block)
      if (Object.keys(frame).length) return frame
    }
  }
  const collect = async (most: number) => {
    const frames: Frame[] = []
    while (frames.length < most) {
      const frame = await next()
      if (!frame) break
      frames.push(frame)
    }
    return frames
  }
  return {
    next,
    take: collect,
    rest: () => collect(Number.POSITIVE_INFINITY),
    text: () => chunks.join(''),
    cancel: () => reader.cancel(),
  }
}

function frameOf(block: string): Frame {
  const fields = block.split('\n').flatMap((line) => {
    const [, name = '', value = ''] = /^(\w+): (.*)$/.exec(line) ?? []
    return name ? [[name, name === 'data' ? JSON.parse(value) : value]] : []
  })
  return Object.fromEntries(fields)
}
