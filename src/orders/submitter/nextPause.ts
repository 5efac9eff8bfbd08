/** How long each refused order waits, in seconds, and until when; by id. */
export type RefusalPauses = Map<string, { pause: bigint; until: bigint }>

/** Seconds of the first pause and of the longest. */
const first = 2n
const longest = 30n

/**
 * The pause before an order is tried again. Doubles as long as refusals follow
 * each other closely. Pure except that it updates `pauses`.
 *
 * A process that takes the submitter over starts with the first pause again, which
 * costs a few rehearsals and no gas.
 *
 * @param now Unix seconds of the chain.
 */
export function nextPause(
  pauses: RefusalPauses,
  orderId: string,
  now: bigint,
): bigint {
  const last = pauses.get(orderId)
  const isRow = last !== undefined && now <= last.until + longest
  const doubled = isRow ? 2n * last.pause : first
  const pause = doubled > longest ? longest : doubled
  pauses.set(orderId, { pause, until: now + pause })
  return pause
}

/** Forgets pauses that ended more than 30 seconds ago. */
export function dropPauses(pauses: RefusalPauses, now: bigint): void {
  for (const [orderId, { until }] of pauses)
    if (until + longest < now) pauses.delete(orderId)
}
