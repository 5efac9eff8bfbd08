import { type ReactNode, useId, useMemo, useState } from 'react'
import { Card } from '../ui/Card.js'
import { useNow } from '../ui/clock.js'
import type { BookOrder } from './applyEvent.js'
import { SettlementChart } from './SettlementChart.js'
import { SettlementTable } from './SettlementTable.js'
import { type Span, span, sumSettlement } from './settlement.js'

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
      actions={<UnitChoice unit={unit} onUnit={setUnit} />}
    >
      <SettlementChart bars={bars} unit={unit} />
      <SettlementTable bars={bars} unit={unit} />
    </Card>
  )
}

function UnitChoice({
  unit,
  onUnit,
}: {
  unit: Span
  onUnit: (unit: Span) => void
}): ReactNode {
  const name = useId()
  return (
    <fieldset className="choice">
      <legend className="visually-hidden">Period of the chart</legend>
      {(['minute', 'hour'] as const).map((value) => (
        <label key={value} title={span[value].label}>
          <input
            type="radio"
            name={name}
            checked={unit === value}
            onChange={() => onUnit(value)}
          />
          <span>{value === 'minute' ? '30 min' : '24 h'}</span>
        </label>
      ))}
    </fieldset>
  )
}
