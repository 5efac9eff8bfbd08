import type { ReactNode } from 'react'
import { formatAmount } from '../../core/amount.js'
import { AddressText } from '../ui/AddressText.js'
import { Card } from '../ui/Card.js'
import { useNow } from '../ui/clock.js'
import { Money } from '../ui/Money.js'
import type { BookOrder } from './applyEvent.js'
import { sumExposure } from './exposure.js'
import { useSumsToken } from './shop.js'

const shownPayers = 6

/** Shows how much each payer's valid signatures can still move. */
export function ExposureCard({
  orders,
  isPartial,
}: {
  orders: ReadonlyMap<string, BookOrder>
  isPartial: boolean
}): ReactNode {
  const { symbol, decimals } = useSumsToken()
  const { total, payers } = sumExposure(orders.values(), useNow(), decimals)
  const most = payers[0]?.value ?? 1n
  const rest = payers.slice(shownPayers)
  return (
    <Card title="Exposure by payer">
      <p className="muted small">
        Open payments, and voided ones whose signature is still valid
        {isPartial && ', among the orders loaded so far'}.
      </p>
      {payers.length === 0 && <p className="quiet-line">No open payments.</p>}
      <ul className="payers">
        {payers.slice(0, shownPayers).map(({ payer, value, count }) => (
          <li key={payer}>
            <span className="row row-between">
              <AddressText address={payer} label="payer’s address" />
              <Money amount={formatAmount(value, decimals)} symbol={symbol} />
            </span>
            <span className="payer-bar" aria-hidden="true">
              <span
                className="payer-fill"
                style={{ width: `${Number((value * 100n) / most)}%` }}
              />
            </span>
            <span className="muted cell-note">
              {count} {count === 1 ? 'payment' : 'payments'}
            </span>
          </li>
        ))}
      </ul>
      {rest.length > 0 && (
        <p className="muted small">and {rest.length} more payers</p>
      )}
      {payers.length > 0 && (
        <p className="row row-between total">
          <span>Total</span>
          <Money amount={formatAmount(total, decimals)} symbol={symbol} />
        </p>
      )}
    </Card>
  )
}
