import type { ComponentProps, MouseEvent, ReactNode } from 'react'
import { navigate } from './navigation.js'

/**
 * A link to another route of this page. Opens in a new tab like any other link.
 */
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
