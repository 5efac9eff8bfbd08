import { Fragment, type ReactNode } from 'react'
import { AddressText } from '../ui/AddressText.js'
import { Card } from '../ui/Card.js'
import { useNow } from '../ui/clock.js'
import type { PageToken } from '../web/pageData.js'
import type { BookOrder } from './applyEvent.js'
import { type Exposure, sumExposure } from './exposure.js'
import { tokenName, useShop } from './shop.js'
import { splitByToken, tokenKey } from './splitByToken.js'
import { TokenMoney } from './TokenMoney.js'

const shownPayers = 6

/**
 * Shows how much each payer's valid signatures can still move, of each token by
 * itself.
 */
export function ExposureCard({
  orders,
  isPartial,
}: {
  orders: ReadonlyMap<string, BookOrder>
  isPartial: boolean
}): ReactNode {
  const shop = useShop()
  const now = useNow()
  const exposures = splitByToken(orders.values(), shop)
    .map(({ token, orders: own }) => ({
      token,
      exposure: sumExposure(own, now, token.decimals),
    }))
    .filter(({ exposure }) => exposure.count > 0)
  return (
    <Card title="Exposure by payer">
      <p className="muted small">
        Open payments, and voided ones whose signature is still valid
        {isPartial && ', among the orders loaded so far'}.
      </p>
      {exposures.length === 0 && (
        <p className="quiet-line">No open payments.</p>
      )}
      {exposures.map(({ token, exposure }) => (
        <Fragment key={tokenKey(token)}>
          {exposures.length > 1 && (
            <h3 className="token-head">{tokenName(shop, token)}</h3>
          )}
          <Payers token={token} exposure={exposure} />
        </Fragment>
      ))}
    </Card>
  )
}

/** The payers of one token, the largest sum first. */
function Payers({
  token,
  exposure: { total, payers },
}: {
  token: PageToken
  exposure: Exposure
}): ReactNode {
  const most = payers[0]?.value || 1n
  const rest = payers.length - shownPayers
  return (
    <>
      <ul className="payers">
        {payers.slice(0, shownPayers).map(({ payer, value, count }) => (
          <li key={payer}>
            <span className="row row-between">
              <AddressText address={payer} label="payer’s address" />
              <TokenMoney amount={{ token, value }} />
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
      {rest > 0 && <p className="muted small">and {rest} more payers</p>}
      <p className="row row-between total">
        <span>Total</span>
        <TokenMoney amount={{ token, value: total }} />
      </p>
    </>
  )
}
