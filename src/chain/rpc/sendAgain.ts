import { wait } from '../../core/wait.js'
import type { NodeFailure } from './errors.js'

/** An attempt's answer, or its failure with the pause the peer asked for. */
export type Attempt = {
  failure?: NodeFailure | undefined
  /** Milliseconds. */
  retryAfter?: number | undefined
}

/**
 * Makes an attempt, and again as long as it may succeed later: network faults,
 * HTTP 429, 502, 503 and 504. What sends a transaction is attempted once, and
 * after the signal aborts nothing is.
 */
export async function sendAgain<attempt extends Attempt>(
  methods: readonly string[],
  retries: number,
  send: () => Promise<attempt>,
  signal?: AbortSignal | undefined,
): Promise<attempt> {
  const once = methods.some(isSentOnce)
  for (let count = 0; ; count++) {
    const attempt = await send()
    const { failure, retryAfter } = attempt
    if (!failure || once || count >= retries || !maySucceedLater(failure))
      return attempt
    await wait(Math.min(retryAfter ?? 150 * 2 ** count, 60_000), signal)
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
