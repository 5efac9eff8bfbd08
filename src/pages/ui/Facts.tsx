import { Fragment, type ReactNode } from 'react'
import { classNames } from './classNames.js'

/** Shows names and values in two columns. Leaves out items without a value. */
export function Facts({
  items,
  long = false,
}: {
  items: readonly (readonly [name: string, value: ReactNode])[]
  /** For whole hashes: on a phone, each value is below its name. */
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
