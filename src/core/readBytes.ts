/** Reads all bytes of a body; `undefined` when there are more than `most`. */
export async function readBytes(
  body: ReadableStream<Uint8Array> | null,
  most: number,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const chunks: Uint8Array[] = []
  let length = 0
  const reader = body?.getReader()
  for (;;) {
    const chunk = await reader?.read()
    if (!chunk || chunk.done) break
    length += chunk.value.byteLength
    if (length > most) {
      // Does not wait for the cancellation: a sender that keeps sending would
      // delay the error response.
      reader?.cancel().catch(() => {})
      return undefined
    }
    chunks.push(chunk.value)
  }
  const bytes = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.byteLength
  }
  return bytes
}
