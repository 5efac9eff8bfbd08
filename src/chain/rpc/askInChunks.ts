/** Requests in one batch: the limit of most batching transports. */
const chunkSize = 100

/** Batches at the same time. */
const maxInFlight = 5

/**
 * Runs a request for each item: a chunk in one tick, a few chunks at a time.
 * Starts no further chunk after a failure.
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
