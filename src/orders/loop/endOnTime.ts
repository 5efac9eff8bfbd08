import { onAbort } from '../../core/onAbort.js'
import { finishOnTime } from './endingContext.js'

/**
 * Runs work until one of the signals aborts. After that, nodes have 3 seconds
 * to answer and the database 2 more to write. Does not wait longer for work
 * that hangs.
 *
 * @param work gets two signals. `ending` aborts at once, so that nothing new
 * begins. `letGo` aborts after the 3 seconds for nodes, or when the work is
 * over.
 * @param lost a signal that ends the work as a failure.
 * @throws the reason of `lost`, if it aborted before the other signals.
 */
export async function endOnTime(
  signals: readonly AbortSignal[],
  work: (ends: { ending: AbortSignal; letGo: AbortSignal }) => Promise<void>,
  lost: AbortSignal = new AbortController().signal,
): Promise<void> {
  const ending = new AbortController()
  const letGo = new AbortController()
  const isEnding = new Promise<void>((resolve) =>
    ending.signal.addEventListener('abort', () => resolve()),
  )
  let isLost = false
  const end = () => {
    isLost ||= lost.aborted && !ending.signal.aborted
    ending.abort()
  }
  const all = [...signals, lost]
  const forgets = all.map((one) => onAbort(one, end))
  if (all.some(({ aborted }) => aborted)) end()
  const running = work({ ending: ending.signal, letGo: letGo.signal })
  const finishing = isEnding.then(() =>
    finishOnTime(running, () => letGo.abort()),
  )
  try {
    await Promise.race([running, finishing])
  } finally {
    // Abort the requests that polls started without waiting for them.
    letGo.abort()
    for (const forget of forgets) forget()
  }
  if (isLost) throw lost.reason
}
