import type { ReactNode } from 'react'
import { Icon, type IconName } from './Icon.js'

export type EmptyStateProps = {
  title: string
  level?: 1 | 2 | 3 | undefined
  icon?: IconName | undefined
  /** A button or link that helps. */
  action?: ReactNode
  children?: ReactNode
}

export function EmptyState({
  title,
  level = 2,
  icon = 'inbox',
  action,
  children,
}: EmptyStateProps): ReactNode {
  const Heading = `h${level}` as const
  return (
    <div className="empty">
      <Icon name={icon} size={36} />
      <Heading>{title}</Heading>
      {children && <p>{children}</p>}
      {action}
    </div>
  )
}
