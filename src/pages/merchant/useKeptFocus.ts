import { type RefObject, useEffect, useRef } from 'react'

/**
 * Keeps the focus nearby when a button disappears after its action: moves it to
 * the first remaining control.
 */
export function useKeptFocus(state: string): RefObject<HTMLDivElement | null> {
  const element = useRef<HTMLDivElement>(null)
  const hadFocus = useRef(false)
  useEffect(() => {
    const onFocus = ({ target }: FocusEvent) => {
      hadFocus.current =
        target instanceof Node && element.current?.contains(target) === true
    }
    document.addEventListener('focusin', onFocus)
    return () => document.removeEventListener('focusin', onFocus)
  }, [])
  useEffect(() => {
    const isLost = document.activeElement === document.body
    if (state && hadFocus.current && isLost)
      element.current?.querySelector<HTMLElement>('a, button')?.focus()
  }, [state])
  return element
}
