import type { ReactNode } from 'react'
import { formatAmount } from '../../core/amount.js'
import { groupAmount } from '../ui/format.js'
import { finalityWords } from '../ui/states.js'
import type { PageToken } from '../web/pageData.js'
import { BarChart } from './BarChart.js'
import {
  type SettlementBar,
  type Span,
  settledFinalities,
  span,
} from './settlement.js'
import { tokenName, useShop } from './shop.js'

/** Draws bars stacked by finality. The table below shows the same figures. */
export function SettlementChart({
  token,
  bars,
  unit,
}: {
  token: PageToken
  bars: readonly SettlementBar[]
  unit: Span
}): ReactNode {
  const { decimals } = token
  const name = tokenName(useShop(), token)
  const sum = bars.reduce((all, { total }) => all + total, 0n)
  const count = bars.reduce((all, bar) => all + bar.count, 0)
  return (
    <BarChart
      title={`Captured. ${span[unit].label}, in ${name}`}
      words={`${count} captures, ${groupAmount(formatAmount(sum, decimals))} ${name} in total. The table below has the figures.`}
      empty="No captures in this period."
      decimals={decimals}
      bars={bars.map(({ from, sums }) => ({
        key: from,
        label: clock(from),
        parts: settledFinalities.map((finality) => ({
          look: finality,
          value: sums[finality],
        })),
      }))}
      legend={[...settledFinalities].reverse().map((finality) => ({
        look: finality,
        words: finalityWords[finality],
      }))}
    />
  )
}

export function clock(unixSeconds: number): string {
  return new Date(unixSeconds * 1000).toLocaleTimeString([], {
    hour: '2-digit',
    minute: '2-digit',
    hour12: false,
  })
}
