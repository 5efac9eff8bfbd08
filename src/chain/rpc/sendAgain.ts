import { wait } from '../../core/wait.js'
import type { NodeFailure } from './errors.js'

/** Most milliseconds of all pauses of one request. */
const mostPaused = 30_000

/** An attempt's answer, or its failure. */
export type Attempt = { failure?: NodeFailure | undefined }

/**
 * Makes an attempt, and again as long as it may succeed later: network faults,
 * HTTP 429, 502, 503 and 504. What sends a transaction is attempted once, and
 * after the signal aborts nothing is. Gives up where the peer asks for a longer
 * pause than a caller would wait without a word.
 */
export async function sendAgain<attempt extends Attempt>(
  methods: readonly string[],
  retries: number,
  send: () => Promise<attempt>,
  signal?: AbortSignal | undefined,
  isWorthIt: (failure: NodeFailure) => boolean = maySucceedLater,
): Promise<attempt> {
  const once = methods.some(isSentOnce)
  let left = mostPaused
  for (let count = 0; ; count++) {
    const attempt = await send()
    const { failure } = attempt
    if (!failure || once || count >= retries || !isWorthIt(failure))
      return attempt
    const pause = failure.retryAfter ?? 150 * 2 ** count
    left -= pause
    if (left < 0) return attempt
    await wait(pause, signal)
    if (signal?.aborted) return attempt
  }
}

/** What sends a transaction may have arrived although its answer is lost. */
export function isSentOnce(method: string): boolean {
  return /_send|^wallet_/.test(method)
}

function maySucceedLater({ code, status }: NodeFailure): boolean {
  if (status === undefined) return code === undefined
  return [429, 502, 503, 504].includes(status)
}
