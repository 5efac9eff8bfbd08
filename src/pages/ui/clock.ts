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

/** Unix seconds of the chain as far as the page knows, once a second. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => second)
}

/** The same once, where nothing has to move along. */
export function readNow(): number {
  return Math.floor(Date.now() / 1000) + offset
}

/** Lets countdowns follow the chain: windows close by block time. */
export function setChainTime(unixSeconds: number): void {
  const ahead = unixSeconds - Math.floor(Date.now() / 1000)
  // A block is always a little old; only a clock that differs counts.
  offset = Math.abs(ahead) <= 5 ? 0 : ahead
  tick()
}
