import { useSyncExternalStore } from 'react'

const listeners = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined
let offset = 0
let second = readNow()

function tick(): void {
  const next = readNow()
  if (next === second) return
  second = next
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  timer ??= setInterval(tick, 250)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

/**
 * Returns the chain's time in Unix seconds, as the page knows it. Updates every
 * second.
 */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => second)
}

/** Returns the same time without updates. */
export function readNow(): number {
  return Math.floor(Date.now() / 1000) + offset
}

/** Sets the chain's time for countdowns: windows close by block time. */
export function setChainTime(unixSeconds: number): void {
  const ahead = unixSeconds - Math.floor(Date.now() / 1000)
  // A block is always a few seconds old. Correct only larger differences.
  offset = Math.abs(ahead) <= 5 ? 0 : ahead
  tick()
}
