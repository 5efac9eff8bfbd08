import { useCallback, useState } from 'react'
import { readNow } from '../ui/clock.js'
import { wordsOf } from './wordsOf.js'

export type RequestState<answer> = {
  answer: answer | undefined
  /** Unix seconds when the answer came. */
  at: number | undefined
  problem: string | undefined
  isBusy: boolean
  run: () => Promise<void>
}

/**
 * Sends a request when `run` is called. Keeps the last answer after an error.
 */
export function useRequest<answer>(
  ask: () => Promise<answer>,
): RequestState<answer> {
  const [answer, setAnswer] = useState<{ value: answer; at: number }>()
  const [problem, setProblem] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const run = useCallback(async () => {
    setBusy(true)
    try {
      const value = await ask()
      setAnswer({ value, at: readNow() })
      setProblem(undefined)
    } catch (error) {
      setProblem(wordsOf(error))
    }
    setBusy(false)
  }, [ask])
  return { answer: answer?.value, at: answer?.at, problem, isBusy, run }
}
