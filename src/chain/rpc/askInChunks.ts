/**
 * Most requests that start at the same time. Most batching transports send at
 * most 100 in one HTTP request.
 */
const chunkSize = 100

/** Most chunks that wait for their answers at the same time. */
const maxInFlight = 5

/**
 * Sends one request for each item, and returns the answers in the same order.
 * Starts the requests of a chunk in the same turn of the event loop, so that a
 * batching transport sends them together. Starts no further chunk after a
 * failure.
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
