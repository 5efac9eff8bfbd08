import { Problem, Unreachable } from './Problem.js'

export type KeepTryingParameters = {
  signal?: AbortSignal | undefined
  /** Is told when nobody answered, and again when somebody did. */
  onReachable?: ((isReachable: boolean) => void) | undefined
}

/** Milliseconds at most until a shop that is back is noticed. */
const slowest = 2_000

/** Tries again, ever more slowly, while nobody answers or all are busy. */
export async function keepTrying<value>(
  ask: () => Promise<value>,
  { signal, onReachable }: KeepTryingParameters = {},
): Promise<value> {
  for (let failures = 0; ; failures++)
    try {
      const answer = await ask()
      onReachable?.(true)
      return answer
    } catch (error) {
      if (signal?.aborted || !isPassing(error)) throw error
      onReachable?.(false)
      const { retryAfter } = error instanceof Problem ? error : {}
      await pause(retryAfter ?? Math.min(slowest, 300 * 2 ** failures), signal)
    }
}

function isPassing(error: unknown): boolean {
  if (error instanceof Unreachable) return true
  if (!(error instanceof Problem)) return false
  const { status, reason } = error
  // The order takes no payment any more, however often it is asked.
  if (reason === 'tooManyTries') return false
  return [429, 502, 503, 504].includes(status) || reason === 'acceptInFlight'
}

/** Waits, or less long when it is not needed any more. */
export function pause(
  milliseconds: number,
  signal?: AbortSignal | undefined,
): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, milliseconds)
    signal?.addEventListener('abort', done)
    function done(): void {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      resolve()
    }
  })
}
