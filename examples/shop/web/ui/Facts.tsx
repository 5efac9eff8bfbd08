import { Fragment, type ReactNode } from 'react'

/** Names and values in two columns; what is absent is left out. */
export function Facts({
  items,
}: {
  items: readonly (readonly [name: string, value: ReactNode])[]
}): ReactNode {
  return (
    <dl className="facts">
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
