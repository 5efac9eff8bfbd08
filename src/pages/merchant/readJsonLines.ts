/** Reads a stream of JSON lines, without keeping all of it in memory. */
export async function* readJsonLines<line>(
  stream: ReadableStream<Uint8Array>,
): AsyncGenerator<line> {
  const reader = stream.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for (;;) {
      const { value, done } = await reader.read()
      const lines = (rest + decoder.decode(value, { stream: !done })).split(
        '\n',
      )
      rest = lines.pop() ?? ''
      for (const text of lines) yield JSON.parse(text)
      if (done) return
    }
  } finally {
    // Also ends the download if the caller stops early.
    await reader.cancel().catch(() => undefined)
  }
}
