/** Questions that travel together, as most batching transports send them. */
const chunkSize = 100

/** Chunks on their way at a time. */
const maxInFlight = 5

/**
 * Asks about each item: those of a chunk in one tick, a few chunks at a time.
 * After a failure no further chunk is asked.
 */
export async function askInChunks<item, answer>(
  items: readonly item[],
  ask: (item: item) => Promise<answer>,
): Promise<answer[]> {
  const answers: answer[] = []
  let next = 0
  const askOn = async (): Promise<void> => {
    while (next < items.length) {
      const first = next
      next += chunkSize
      const chunk = items.slice(first, next)
      const answered = await Promise.all(chunk.map(ask)).catch((error) => {
        next = items.length
        throw error
      })
      for (const [at, answer] of answered.entries())
        answers[first + at] = answer
    }
  }
  await Promise.all(Array.from({ length: maxInFlight }, askOn))
  return answers
}
