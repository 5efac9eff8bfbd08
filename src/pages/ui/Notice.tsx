import type { ReactNode } from 'react'
import { classNames } from './classNames.js'
import { Icon, type IconName } from './Icon.js'
import type { Tone } from './states.js'

export type NoticeProps = {
  tone?: Tone | undefined
  title?: string | undefined
  /** A button that helps. */
  action?: ReactNode
  children?: ReactNode
}

const icons: Record<Tone, IconName> = {
  neutral: 'info',
  accent: 'info',
  good: 'check',
  warn: 'alert',
  bad: 'alert',
}

/**
 * Shows an important message. Screen readers read it aloud, at once if it is
 * bad.
 */
export function Notice({
  tone = 'neutral',
  title,
  action,
  children,
}: NoticeProps): ReactNode {
  return (
    <div
      role={tone === 'bad' ? 'alert' : 'status'}
      className={classNames('notice', `notice-${tone}`)}
    >
      <Icon name={icons[tone]} />
      <div className="notice-body">
        {title && <p className="notice-title">{title}</p>}
        {children && <div>{children}</div>}
        {action && <div>{action}</div>}
      </div>
    </div>
  )
}
