import { readBytes } from '../../core/readBytes.js'

/**
 * Most bytes of a body. Every payload of the exact scheme is shorter, even with
 * the long signature of a smart wallet.
 */
export const mostPayloadBytes: number = 65_536

/** Most bytes of a body with the claims of a hundred channels. */
export const mostBatchBytes: number = 131_072

/** The JSON body of a request, or the HTTP status that refuses it. */
export type ReadJson =
  | { ok: true; body: unknown }
  | { ok: false; status: number; error: string }

/** Reads the JSON body of a request. Stops reading after `mostBytes`. */
export async function readJson(
  request: Request,
  mostBytes: number,
): Promise<ReadJson> {
  const type = request.headers.get('content-type') ?? ''
  if (!/^application\/json\s*(;|$)/i.test(type))
    return { ok: false, status: 415, error: 'wrongContentType' }
  const isLong = Number(request.headers.get('content-length')) > mostBytes
  const bytes = isLong ? undefined : await readBytes(request.body, mostBytes)
  if (!bytes) return { ok: false, status: 413, error: 'tooLarge' }
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return { ok: true, body: JSON.parse(text) }
  } catch {
    return { ok: false, status: 400, error: 'notJson' }
  }
}
