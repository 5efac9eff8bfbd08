import type { ReactNode } from 'react'
import { finalityWords } from '../ui/states.js'
import { Table } from '../ui/Table.js'
import type { PageToken } from '../web/pageData.js'
import { clock } from './SettlementChart.js'
import {
  type SettlementBar,
  type Span,
  settledFinalities,
  span,
} from './settlement.js'
import { tokenName, useShop } from './shop.js'
import { TokenMoney } from './TokenMoney.js'

/** Shows the chart's figures, without periods that have no capture. */
export function SettlementTable({
  token,
  bars,
  unit,
}: {
  token: PageToken
  bars: readonly SettlementBar[]
  unit: Span
}): ReactNode {
  const name = tokenName(useShop(), token)
  const rows = bars.filter(({ count }) => count > 0)
  if (rows.length === 0) return null
  const money = (value: bigint) => <TokenMoney amount={{ token, value }} />
  return (
    <details className="figures">
      <summary>Show the figures</summary>
      <Table
        caption={`Captured. ${span[unit].label}, in ${name}`}
        rows={rows}
        rowKey={({ from }) => String(from)}
        columns={[
          { key: 'from', title: 'From', cell: ({ from }) => clock(from) },
          {
            key: 'count',
            title: 'Captures',
            isNumber: true,
            cell: ({ count }) => count,
          },
          ...settledFinalities.map((finality) => ({
            key: finality,
            title: finalityWords[finality],
            isNumber: true,
            cell: ({ sums }: SettlementBar) => money(sums[finality]),
          })),
          {
            key: 'total',
            title: 'Sum',
            isNumber: true,
            cell: ({ total }) => money(total),
          },
        ]}
      />
    </details>
  )
}
