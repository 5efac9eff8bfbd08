import type { ComponentProps, MouseEvent, ReactNode } from 'react'
import { navigate } from './navigation.js'

/** A link within the page; opens in a new tab as any other link does. */
export function Link({
  href,
  ...props
}: ComponentProps<'a'> & { href: string }): ReactNode {
  const follow = (event: MouseEvent) => {
    const isPlain = !(
      event.metaKey ||
      event.ctrlKey ||
      event.shiftKey ||
      event.altKey
    )
    if (!isPlain || event.button !== 0) return
    event.preventDefault()
    navigate(href)
  }
  return <a {...props} href={href} onClick={follow} />
}
