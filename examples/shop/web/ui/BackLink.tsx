import type { ReactNode } from 'react'
import { Link } from '../Link.js'
import { Icon } from './Icon.js'

/** Leads one step up. */
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
