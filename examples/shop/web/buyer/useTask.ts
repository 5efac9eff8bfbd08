import { useCallback, useEffect, useRef, useState } from 'react'

export type Task = {
  isRunning: boolean
  error: unknown
  run: (work: (signal: AbortSignal) => Promise<unknown>) => void
}

/** One thing at a time that may fail, and ends with what shows it. */
export function useTask(): Task {
  const [isRunning, setRunning] = useState(false)
  const [error, setError] = useState<unknown>()
  const ending = useRef<AbortController>(undefined)
  useEffect(() => () => ending.current?.abort(), [])
  const run = useCallback<Task['run']>((work) => {
    ending.current?.abort()
    const control = new AbortController()
    ending.current = control
    const { signal } = control
    setError(undefined)
    setRunning(true)
    work(signal)
      .catch((reason: unknown) => {
        if (!signal.aborted) setError(reason)
      })
      .finally(() => {
        if (!signal.aborted) setRunning(false)
      })
  }, [])
  return { isRunning, error, run }
}
