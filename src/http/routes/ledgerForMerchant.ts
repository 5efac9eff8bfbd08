import type { LedgerRow } from '../../orders/index.js'
import { toCsv, toHledger, toJsonLines } from '../../orders/index.js'
import type { LedgerFormat, LedgerQuery } from '../schemas/querySchemas.js'
import { streamText } from '../streams/streamText.js'
import type { MerchantCall } from './route.js'

type Format = {
  write: (rows: AsyncIterable<LedgerRow>) => AsyncGenerator<string>
  type: string
  ending: string
}

const formats: Readonly<Record<LedgerFormat, Format>> = {
  csv: { write: toCsv, type: 'text/csv', ending: 'csv' },
  jsonLines: {
    write: toJsonLines,
    type: 'application/x-ndjson',
    ending: 'jsonl',
  },
  hledger: { write: toHledger, type: 'text/plain', ending: 'journal' },
}

/**
 * Streams the payments, refunds and gas costs of the merchant's recipients as a
 * file.
 *
 * @throws every error of `ledger` that comes before the first row. After that
 * the HTTP status is already sent, so an error breaks the download off.
 *
 * @throws every error of `ledger` that comes before the first row. After that
 * the status is sent, so a later error cuts the download off.
 */
export async function ledgerForMerchant({
  orders,
  query,
  request,
  signal,
}: MerchantCall & { query: LedgerQuery }): Promise<Response> {
  const { format = 'csv', from, to, transfers } = query
  const ending = new AbortController()
  const end = () => ending.abort()
  const rows = orders.ledger({
    from: from === undefined ? undefined : BigInt(from),
    to: to === undefined ? undefined : BigInt(to),
    transfers: transfers === 'true',
    signal: ending.signal,
  })
  // `signal` aborts as soon as the response is returned, when most of the file
  // is still to be sent. So from the first row on, only a disconnect of the
  // client ends the reading.
  signal.addEventListener('abort', end)
  const first = await rows
    .next()
    .finally(() => signal.removeEventListener('abort', end))
  request.signal.addEventListener('abort', end)
  const forget = () => request.signal.removeEventListener('abort', end)
  const { write, type, ending: suffix } = formats[format]
  const lines = write(joinRows(first, rows, forget))
  return new Response(streamText(lines, end), {
    headers: {
      'content-type': `${type}; charset=utf-8`,
      'content-disposition': `attachment; filename="books.${suffix}"`,
    },
  })
}

/**
 * Yields the first row, which has already been taken from the iterator, and
 * then all others.
 */
async function* joinRows(
  first: IteratorResult<LedgerRow>,
  others: AsyncIterableIterator<LedgerRow>,
  onEnd: () => void,
): AsyncGenerator<LedgerRow> {
  try {
    if (first.done) return
    yield first.value
    yield* others
  } finally {
    onEnd()
  }
}
