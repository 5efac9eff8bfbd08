/**
 * Most bytes of a body. Every payload of the exact scheme is shorter, even with
 * the long signature of a smart wallet.
 */
const mostBytes = 65_536

/** The JSON body of a request, or the HTTP status that refuses it. */
export type ReadJson =
  | { ok: true; body: unknown }
  | { ok: false; status: number; error: string }

/** Reads the JSON body of a request. Stops reading after 64 KiB. */
export async function readJson(request: Request): Promise<ReadJson> {
  const type = request.headers.get('content-type') ?? ''
  if (!/^application\/json\s*(;|$)/i.test(type))
    return { ok: false, status: 415, error: 'wrongContentType' }
  const bytes = await readBytes(request)
  if (!bytes) return { ok: false, status: 413, error: 'tooLarge' }
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return { ok: true, body: JSON.parse(text) }
  } catch {
    return { ok: false, status: 400, error: 'notJson' }
  }
}

/** Reads the bytes of the body; `undefined` when there are too many. */
async function readBytes(request: Request): Promise<Uint8Array | undefined> {
  if (Number(request.headers.get('content-length')) > mostBytes)
    return undefined
  const reader = request.body?.getReader()
  const chunks: Uint8Array[] = []
  let length = 0
  for (;;) {
    const chunk = await reader?.read()
    if (!chunk || chunk.done) break
    length += chunk.value.byteLength
    if (length > mostBytes) {
      // Does not wait for the cancellation: a sender that keeps sending would
      // delay the error response.
      reader?.cancel().catch(() => undefined)
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
