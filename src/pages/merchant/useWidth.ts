import { type RefObject, useEffect, useRef, useState } from 'react'

/**
 * Measures an element's width, so that a drawing fits without scaling its text.
 */
export function useWidth(): {
  ref: RefObject<HTMLElement | null>
  /** CSS pixels. */
  width: number
} {
  const ref = useRef<HTMLElement>(null)
  const [width, setWidth] = useState(640)
  useEffect(() => {
    if (!ref.current) return
    const observer = new ResizeObserver(([entry]) => {
      if (entry) setWidth(Math.max(240, Math.round(entry.contentRect.width)))
    })
    observer.observe(ref.current)
    return () => observer.disconnect()
  }, [])
  return { ref, width }
}
