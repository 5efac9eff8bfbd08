import { type ReactNode, useId } from 'react'
import { classNames } from './classNames.js'

export type CardProps = {
  /** Also the name of the region. */
  title?: ReactNode
  level?: 2 | 3 | undefined
  /** Shown beside the title. */
  actions?: ReactNode
  /** Without padding, for a table that reaches the edges. */
  flush?: boolean | undefined
  children: ReactNode
}

export function Card({
  title,
  level = 2,
  actions,
  flush = false,
  children,
}: CardProps): ReactNode {
  const id = useId()
  const Heading = level === 2 ? 'h2' : 'h3'
  const name = classNames('card', flush && 'card-flush')
  if (!title) return <div className={name}>{children}</div>
  return (
    <section className={name} aria-labelledby={id}>
      <div className="card-head">
        <Heading id={id}>{title}</Heading>
        {actions}
      </div>
      {children}
    </section>
  )
}
