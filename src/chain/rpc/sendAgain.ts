import { wait } from '../../core/wait.js'
import type { NodeFailure } from './types.js'

/** Most milliseconds that all pauses of one request take together. */
const mostPaused = 30_000

export type Attempt = { failure?: NodeFailure | undefined }

/**
 * Repeats a request while it may succeed later: by default after network faults
 * and HTTP 429, 502, 503 and 504. Never repeats a method that sends a
 * transaction. Stops when the signal aborts, or when all pauses together would
 * take more than 30 seconds (`mostPaused`).
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

/**
 * True for methods that send a transaction. They are never repeated: if only
 * the answer was lost, the transaction would be sent twice.
 */
export function isSentOnce(method: string): boolean {
  return /_send|^wallet_/.test(method)
}

function maySucceedLater({ code, status }: NodeFailure): boolean {
  if (status === undefined) return code === undefined
  return [429, 502, 503, 504].includes(status)
}
