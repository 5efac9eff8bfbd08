import { askOnce, either, longestTry, repeat } from './ask.js'
import type { Line } from './line.js'
import type { LedgerOptions } from './MerchantClient.js'
import { queryOf } from './queryOf.js'

/** Opens the ledger as a stream, which ends when the signal aborts. */
export function openLedger(
  line: Line,
  { signal, ...query }: LedgerOptions = {},
): Promise<ReadableStream<Uint8Array>> {
  const path = `/merchant/ledger${queryOf(query)}`
  return repeat(line, signal, async () => {
    // Limits the time until the answer begins, not the time to read it.
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(), longestTry)
    const asking = { path, signal: either(signal, late.signal) }
    return askOnce(line, asking, bodyOf).finally(() => clearTimeout(timer))
  })
}

/** Returns the body, which errors on abort even if `fetch` ignores that. */
function bodyOf(
  { body }: Response,
  signal: AbortSignal | undefined,
): ReadableStream<Uint8Array> {
  if (!body) return new ReadableStream({ start: (empty) => empty.close() })
  const through = new TransformStream<Uint8Array, Uint8Array>()
  return body.pipeThrough(through, signal ? { signal } : {})
}
