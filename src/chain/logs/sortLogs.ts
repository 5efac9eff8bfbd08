import type { ReadLog } from './types.js'

/**
 * Sorts logs by block, transaction and log index, and removes duplicates. If
 * the same log is pre-confirmed and also in a block, keeps the one in a block.
 */
export function sortLogs(logs: readonly ReadLog[]): ReadLog[] {
  const isOrdered = logs.every((log, i) => {
    const before = logs[i - 1]
    return !before || compare(before, log) < 0
  })
  if (isOrdered) return [...logs]
  const sorted = [...logs].sort(
    (a, b) => compare(a, b) || Number(a.preconfirmed) - Number(b.preconfirmed),
  )
  return sorted.filter((log, i) => {
    const before = sorted[i - 1]
    return !before || compare(before, log) !== 0 || !isSame(before, log)
  })
}

function compare(a: ReadLog, b: ReadLog): number {
  if (a.blockNumber !== b.blockNumber)
    return a.blockNumber < b.blockNumber ? -1 : 1
  const { logIndex = 0 } = a
  return a.transactionIndex - b.transactionIndex || logIndex - (b.logIndex ?? 0)
}

/**
 * True for two copies of the same log. False if the index is missing, because
 * one transaction can emit two equal logs.
 */
function isSame(a: ReadLog, b: ReadLog): boolean {
  return (
    a.transactionHash === b.transactionHash &&
    a.logIndex !== undefined &&
    b.logIndex !== undefined
  )
}
