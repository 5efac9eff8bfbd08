import type { ReactNode } from 'react'
import { Icon } from './Icon.js'
import { Link } from './Link.js'

/** Links to the page one level up. */
export function BackLink({
  href,
  children,
}: {
  href: string
  children: ReactNode
}): ReactNode {
  return (
    <Link className="back-link" href={href}>
      <Icon name="back" size={16} />
      {children}
    </Link>
  )
}
