import type { ReactNode } from 'react'
import { formatAmount } from '../../core/amount.js'
import { Money } from '../ui/Money.js'
import { finalityWords } from '../ui/states.js'
import { Table } from '../ui/Table.js'
import { clock } from './SettlementChart.js'
import {
  type SettlementBar,
  type Span,
  settledFinalities,
  span,
} from './settlement.js'
import { useSumsToken } from './shop.js'

/** Shows the chart's figures, without periods that have no capture. */
export function SettlementTable({
  bars,
  unit,
}: {
  bars: readonly SettlementBar[]
  unit: Span
}): ReactNode {
  const { symbol, decimals } = useSumsToken()
  const rows = bars.filter(({ count }) => count > 0)
  if (rows.length === 0) return null
  const money = (value: bigint) => (
    <Money amount={formatAmount(value, decimals)} symbol={symbol} />
  )
  return (
    <details className="figures">
      <summary>Show the figures</summary>
      <Table
        caption={`Captured. ${span[unit].label}`}
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
