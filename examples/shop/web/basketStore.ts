import { useSyncExternalStore } from 'react'
import { type Line, linesOf, maxCount } from '../basket.js'

const key = 'basket'
const changed = new EventTarget()

/** What the visitor wants to buy; the same in each tab. */
export function useBasket(): Line[] {
  const text = useSyncExternalStore(
    subscribe,
    () => localStorage.getItem(key) ?? '{}',
  )
  return linesOf(JSON.parse(text))
}

/** Puts more of a product into the basket, or takes some out. */
export function addToBasket(productId: string, more: number): void {
  const basket = JSON.parse(localStorage.getItem(key) ?? '{}')
  const count = Math.min(maxCount, (basket[productId] ?? 0) + more)
  write({ ...basket, [productId]: Math.max(0, count) })
}

export function emptyBasket(): void {
  write({})
}

function write(basket: object): void {
  localStorage.setItem(key, JSON.stringify(basket))
  changed.dispatchEvent(new Event('change'))
}

function subscribe(onChange: () => void): () => void {
  changed.addEventListener('change', onChange)
  // Other tabs.
  addEventListener('storage', onChange)
  return () => {
    changed.removeEventListener('change', onChange)
    removeEventListener('storage', onChange)
  }
}
