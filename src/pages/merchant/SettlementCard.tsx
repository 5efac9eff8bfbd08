import { Fragment, type ReactNode, useMemo, useState } from 'react'
import { Card } from '../ui/Card.js'
import { useNow } from '../ui/clock.js'
import type { BookOrder } from './applyEvent.js'
import { Choice } from './Choice.js'
import { SettlementChart } from './SettlementChart.js'
import { SettlementTable } from './SettlementTable.js'
import { type Span, span, sumSettlement } from './settlement.js'
import { tokenName, useShop } from './shop.js'
import { splitByToken, tokenKey } from './splitByToken.js'

const options = [
  { value: 'minute', label: '30 min', title: span.minute.label },
  { value: 'hour', label: '24 h', title: span.hour.label },
] as const

/** Shows recent captures as a chart and as a table, for each token. */
export function SettlementCard({
  orders,
}: {
  orders: ReadonlyMap<string, BookOrder>
}): ReactNode {
  const [unit, setUnit] = useState<Span>('minute')
  const shop = useShop()
  const step = Math.floor(useNow() / 10) * 10
  const groups = useMemo(() => {
    const time = { unit, now: step + 10 }
    const all = splitByToken(orders.values(), shop).map(
      ({ token, orders: own }) => ({ token, bars: sumSettlement(own, time) }),
    )
    const some = all.filter(({ bars }) => bars.some(({ count }) => count > 0))
    const [token] = shop.tokens
    return some.length === 0 && token
      ? [{ token, bars: sumSettlement([], time) }]
      : some
  }, [orders, shop, unit, step])
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
      {groups.map(({ token, bars }) => (
        <Fragment key={tokenKey(token)}>
          {groups.length > 1 && (
            <h3 className="token-head">{tokenName(shop, token)}</h3>
          )}
          <SettlementChart token={token} bars={bars} unit={unit} />
          <SettlementTable token={token} bars={bars} unit={unit} />
        </Fragment>
      ))}
    </Card>
  )
}
