import { Fragment, type ReactNode } from 'react'
import { classNames } from './classNames.js'

/** Names and values in two columns; what is absent is left out. */
export function Facts({
  items,
  long = false,
}: {
  items: readonly (readonly [name: string, value: ReactNode])[]
  /** Whole hashes: one below the other on a phone. */
  long?: boolean | undefined
}): ReactNode {
  return (
    <dl className={classNames('facts', long && 'facts-long')}>
      {items.map(
        ([name, value]) =>
          value !== undefined &&
          value !== false && (
            <Fragment key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </Fragment>
          ),
      )}
    </dl>
  )
}
