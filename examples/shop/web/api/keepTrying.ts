import { CountersignError } from 'countersign'
import { ProblemError } from 'countersign/client'

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
      const isPassing = error instanceof CountersignError && error.retryable
      if (signal?.aborted || !isPassing) throw error
      onReachable?.(false)
      const { retryAfter } = error instanceof ProblemError ? error : {}
      await pause(retryAfter ?? Math.min(slowest, 300 * 2 ** failures), signal)
    }
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
