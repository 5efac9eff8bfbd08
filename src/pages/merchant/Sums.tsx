import { Fragment, type ReactNode } from 'react'
import type { BookOrder } from './applyEvent.js'
import { sumTokens } from './bulk.js'
import { orderToken, useShop } from './shop.js'
import { tokenKey } from './splitByToken.js'
import { TokenMoney } from './TokenMoney.js'

/** The sum of some orders, one for each token. */
export function Sums({ orders }: { orders: readonly BookOrder[] }): ReactNode {
  const shop = useShop()
  return sumTokens(orders).map((sum, index) => (
    <Fragment key={tokenKey(sum)}>
      {index > 0 && ' + '}
      <TokenMoney amount={{ token: orderToken(shop, sum), value: sum.value }} />
    </Fragment>
  ))
}
