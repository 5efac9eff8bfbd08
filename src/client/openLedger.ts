import { askOnce, repeat } from './ask.js'
import type { Line } from './line.js'
import type { LedgerOptions } from './MerchantClient.js'
import { queryOf } from './queryOf.js'

/** Opens the ledger as a stream, which ends when the signal aborts. */
export function openLedger(
  line: Line,
  { signal, ...query }: LedgerOptions = {},
): Promise<ReadableStream<Uint8Array>> {
  const asking = { path: `/merchant/ledger${queryOf(query)}`, signal }
  return repeat(line, signal, () => askOnce(line, asking, bodyOf))
}

function bodyOf({ body }: Response): ReadableStream<Uint8Array> {
  return body ?? new ReadableStream({ start: (empty) => empty.close() })
}
