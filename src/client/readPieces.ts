import { endOnAbort } from '../core/onAbort.js'
import { nextTurn } from '../core/wait.js'

export type PieceReader = ReadableStreamDefaultReader<Uint8Array>

/** Most bytes that are handled in one turn of the event loop. */
const mostBytes = 65_536

/**
 * Most characters of an answer. The longest of `countersign/http`, a page of
 * orders or an audit, is far shorter.
 */
const longestAnswer = 64_000_000

/**
 * Yields the text of a body in pieces of at most 64 KB, as they arrive. However
 * fast the server sends, timers and the signal get their turn between pieces.
 * The caller cancels the reader.
 *
 * @throws the reason of `signal` when that aborts, even if the reader ignores
 * the signal.
 */
export async function* readPieces(
  reader: PieceReader,
  signal: AbortSignal | undefined,
): AsyncGenerator<string, void> {
  const decoder = new TextDecoder()
  let handled = 0
  for (;;) {
    const { done, value } = await endOnAbort(reader.read(), signal)
    if (done) return
    for (let at = 0; at < value.length; at += mostBytes) {
      const piece = value.subarray(at, at + mostBytes)
      yield decoder.decode(piece, { stream: true })
      handled += piece.length
      if (handled < mostBytes) continue
      handled = 0
      await nextTurn()
      signal?.throwIfAborted()
    }
  }
}

/**
 * Reads the text of an answer.
 *
 * @throws a `SyntaxError` when it is too long.
 */
export async function readText(
  response: Response,
  signal: AbortSignal | undefined,
): Promise<string> {
  // Some runtimes, such as React Native, have no stream of the body.
  const reader = response.body?.getReader()
  if (!reader) return response.text()
  let text = ''
  try {
    for await (const piece of readPieces(reader, signal)) {
      text += piece
      if (text.length > longestAnswer) throw new SyntaxError()
    }
    return text
  } finally {
    reader.cancel().catch(() => undefined)
  }
}
