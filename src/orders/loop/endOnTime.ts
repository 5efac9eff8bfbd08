import { lastAnswers, lastWrites } from './endingContext.js'

/**
 * Runs work until one of the signals aborts. Nodes then have 3 seconds to
 * answer and the database 2 more to write. Work that hangs is left behind.
 *
 * @param work gets two signals: `ending` aborts at once, so that nothing new
 * begins; `letGo` aborts when nodes have had their time, or the work is over.
 */
export async function endOnTime(
  signals: readonly AbortSignal[],
  work: (ends: { ending: AbortSignal; letGo: AbortSignal }) => Promise<void>,
): Promise<void> {
  const ending = new AbortController()
  const letGo = new AbortController()
  let late: ReturnType<typeof setTimeout> | undefined
  let last: ReturnType<typeof setTimeout> | undefined
  let giveUp: () => void = () => undefined
  const isOver = new Promise<void>((resolve) => {
    giveUp = resolve
  })
  const end = () => {
    ending.abort()
    late ??= setTimeout(() => letGo.abort(), lastAnswers)
    last ??= setTimeout(giveUp, lastAnswers + lastWrites)
  }
  if (signals.some(({ aborted }) => aborted)) end()
  for (const one of signals) one.addEventListener('abort', end)
  try {
    const ends = { ending: ending.signal, letGo: letGo.signal }
    await Promise.race([work(ends), isOver])
  } finally {
    clearTimeout(late)
    clearTimeout(last)
    // Aborts requests that looks started and did not wait for.
    letGo.abort()
    for (const one of signals) one.removeEventListener('abort', end)
  }
}
