import type { LedgerRow } from './types.js'

type Source = AsyncGenerator<LedgerRow>

/**
 * Merges streams of rows into one, sorted by time and position on the chain.
 * Each stream must be sorted already. Keeps one row of each stream in memory.
 */
export async function* mergeLedgerRows(
  sources: readonly Source[],
): AsyncGenerator<LedgerRow> {
  try {
    const waiting: { row: LedgerRow; source: Source }[] = []
    for (const source of sources) {
      const { value } = await source.next()
      if (value) waiting.push({ row: value, source })
    }
    while (waiting.length > 0) {
      const at = indexOfFirst(waiting.map(({ row }) => row))
      const first = waiting[at]
      if (!first) return
      yield first.row
      const { value } = await first.source.next()
      if (value) first.row = value
      else waiting.splice(at, 1)
    }
  } finally {
    for (const source of sources) await source.return(undefined)
  }
}

function indexOfFirst(rows: readonly LedgerRow[]): number {
  return rows.reduce((best, row, at) => {
    const first = rows[best]
    return first && compareRows(row, first) < 0 ? at : best
  }, 0)
}

/** Returns a negative number if the first row is earlier than the second. */
function compareRows(one: LedgerRow, other: LedgerRow): number {
  const keys = keysOf(other)
  for (const [at, key] of keysOf(one).entries()) {
    const against = keys[at] ?? 0n
    if (key !== against) return key < against ? -1 : 1
  }
  return 0
}

function keysOf(row: LedgerRow): readonly bigint[] {
  const { blockTime, chainId, blockNumber, type, logIndex = 0 } = row
  const place = places[type]
  return [blockTime, BigInt(chainId), blockNumber, place, BigInt(logIndex)]
}

/** Sequence of the rows within one block, by their type. */
const places: Readonly<Record<LedgerRow['type'], bigint>> = {
  opening: 0n,
  capture: 1n,
  refund: 1n,
  claim: 1n,
  transfer: 1n,
  gas: 2n,
  unpaid: 2n,
  closing: 3n,
}
