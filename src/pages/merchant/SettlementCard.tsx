import { type ReactNode, useMemo, useState } from 'react'
import { Card } from '../ui/Card.js'
import { useNow } from '../ui/clock.js'
import type { BookOrder } from './applyEvent.js'
import { Choice } from './Choice.js'
import { SettlementChart } from './SettlementChart.js'
import { SettlementTable } from './SettlementTable.js'
import { type Span, span, sumSettlement } from './settlement.js'

const options = [
  { value: 'minute', label: '30 min', title: span.minute.label },
  { value: 'hour', label: '24 h', title: span.hour.label },
] as const

/** Shows recent captures as a chart and as a table. */
export function SettlementCard({
  orders,
}: {
  orders: ReadonlyMap<string, BookOrder>
}): ReactNode {
  const [unit, setUnit] = useState<Span>('minute')
  const step = Math.floor(useNow() / 10) * 10
  const bars = useMemo(
    () => sumSettlement(orders.values(), { unit, now: step + 10 }),
    [orders, unit, step],
  )
  return (
    <Card
      title="Settlement"
      actions={
        <Choice
          legend="Period of the chart"
          options={options}
          value={unit}
          onChoose={setUnit}
        />
      }
    >
      <SettlementChart bars={bars} unit={unit} />
      <SettlementTable bars={bars} unit={unit} />
    </Card>
  )
}
