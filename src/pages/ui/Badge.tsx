import type { ReactNode } from 'react'
import type { OrderState } from '../../store/types.js'
import { classNames } from './classNames.js'
import { stateWords, type Tone } from './states.js'

export type BadgeProps = {
  tone?: Tone | undefined
  /** True while something is in progress. */
  busy?: boolean | undefined
  title?: string | undefined
  children: ReactNode
}

export function Badge({
  tone = 'neutral',
  busy = false,
  title,
  children,
}: BadgeProps): ReactNode {
  return (
    <span
      title={title}
      className={classNames(
        'badge',
        tone !== 'neutral' && `tone-${tone}`,
        busy && 'badge-busy',
      )}
    >
      {children}
    </span>
  )
}

export function StateBadge({ state }: { state: OrderState }): ReactNode {
  const { label, tone, text, isBusy } = stateWords(state)
  return (
    <Badge tone={tone} busy={isBusy} title={text}>
      {label}
    </Badge>
  )
}
