import { Fragment, type ReactNode } from 'react'
import { formatAmount } from '../../core/amount.js'
import { Money } from '../ui/Money.js'
import type { BookOrder } from './applyEvent.js'
import { sumTokens } from './bulk.js'
import { orderToken, useShop } from './shop.js'

/** The sum of some orders, one for each token. */
export function Sums({ orders }: { orders: readonly BookOrder[] }): ReactNode {
  const shop = useShop()
  return sumTokens(orders).map((sum, index) => {
    const { symbol, decimals, chain } = orderToken(shop, sum)
    return (
      <Fragment key={sum.chainId + sum.token}>
        {index > 0 && ' + '}
        <Money amount={formatAmount(sum.value, decimals)} symbol={symbol} />
        {shop.tokens.length > 1 && chain && ` on ${chain}`}
      </Fragment>
    )
  })
}
