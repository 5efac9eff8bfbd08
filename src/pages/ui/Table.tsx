// biome-ignore-all lint/a11y/noRedundantRoles: browsers drop a table’s meaning with its layout
import type { ReactNode } from 'react'

export type Column<row> = {
  key: string
  title: string
  isNumber?: boolean | undefined
  cell: (row: row) => ReactNode
}

export type TableProps<row> = {
  /** Describes the table for screen readers. Not visible. */
  caption: string
  columns: readonly Column<row>[]
  rows: readonly row[]
  rowKey: (row: row) => string
}

/**
 * A table, and a list of cards on a phone. The roles are spelled out because
 * browsers drop a table's meaning with its layout.
 */
export function Table<row>({
  caption,
  columns,
  rows,
  rowKey,
}: TableProps<row>): ReactNode {
  return (
    <div className="table-frame">
      <table className="table" role="table">
        <caption className="visually-hidden">{caption}</caption>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map(({ key, title, isNumber }) => (
              <th
                key={key}
                role="columnheader"
                scope="col"
                className={isNumber ? 'number' : undefined}
              >
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((row) => (
            <tr key={rowKey(row)} role="row" data-row={rowKey(row)}>
              {columns.map(({ key, title, isNumber, cell }) => (
                <td
                  key={key}
                  role="cell"
                  data-label={title}
                  className={isNumber ? 'number' : undefined}
                >
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
