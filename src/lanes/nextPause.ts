/** Seconds that refused orders wait, by id, and until when. */
export type RefusalPauses = Map<string, { pause: bigint; until: bigint }>

/** Seconds until what a policy wants is tried again, at first and at most. */
const first = 2n
const longest = 30n

/**
 * The pause before an order is tried again: twice the last one, as long as its
 * refusals follow each other. Pure but for what it remembers.
 *
 * Whoever takes the lane over begins with the first pause again: that costs a
 * few rehearsals, and no gas.
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

/** Forgets the pauses of orders that are over by now, or were captured. */
export function dropPauses(pauses: RefusalPauses, now: bigint): void {
  for (const [orderId, { until }] of pauses)
    if (until + longest < now) pauses.delete(orderId)
}
