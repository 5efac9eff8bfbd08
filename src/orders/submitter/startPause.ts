/** Waits that end early when there is something to do. */
export type Pause = {
  /** Resolves after a time, or at once if woken since the last wait. */
  wait(milliseconds: number): Promise<void>
  wake(): void
}

export function startPause(): Pause {
  let isWoken = false
  let end: (() => void) | undefined
  return {
    wait: (milliseconds) => {
      if (isWoken) {
        isWoken = false
        return Promise.resolve()
      }
      return new Promise((resolve) => {
        end = () => {
          clearTimeout(timer)
          end = undefined
          isWoken = false
          resolve()
        }
        const timer = setTimeout(() => end?.(), milliseconds)
      })
    },
    wake: () => {
      isWoken = true
      end?.()
    },
  }
}
