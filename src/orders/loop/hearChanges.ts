import type { PaymentStore } from '../../store/types.js'

/** Milliseconds between two checks of a store that does not report changes. */
const askEvery = 1000

/**
 * Milliseconds to wait after a change, so that one call covers several changes.
 */
const changesWithin = 200

/**
 * Calls the listener when the store may have changed. Ignores writes under this
 * process's own lease. Returns a function that removes the listener.
 */
export function hearChanges(
  { onChange }: Pick<PaymentStore, 'onChange'>,
  {
    listener,
    isOwn = () => false,
  }: { listener(): void; isOwn?(by?: string): boolean },
): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  const tellSoon = (by?: string) => {
    if (isOwn(by)) return
    timer ??= setTimeout(() => {
      timer = undefined
      listener()
    }, changesWithin)
  }
  const asking = onChange ? undefined : setInterval(listener, askEvery)
  const forget = onChange?.(tellSoon)
  return () => {
    clearTimeout(timer)
    clearInterval(asking)
    forget?.()
  }
}
