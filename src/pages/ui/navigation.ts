import { useSyncExternalStore } from 'react'

/** Returns the path of the page. Updates when it changes. */
export function usePath(): string {
  return useSyncExternalStore(subscribe, () => location.pathname)
}

/** Goes to another route of this page. */
export function navigate(path: string): void {
  history.pushState(null, '', path)
  dispatchEvent(new PopStateEvent('popstate'))
  scrollTo(0, 0)
}

function subscribe(onChange: () => void): () => void {
  addEventListener('popstate', onChange)
  return () => removeEventListener('popstate', onChange)
}
