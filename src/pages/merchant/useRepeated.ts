import { useEffect } from 'react'

/** Sends a request now and every few seconds while the page is visible. */
export function useRepeated(run: () => Promise<void>): void {
  useEffect(() => {
    void run()
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') void run()
    }, 5_000)
    return () => clearInterval(timer)
  }, [run])
}
