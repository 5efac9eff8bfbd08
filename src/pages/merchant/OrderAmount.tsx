import type { ReactNode } from 'react'
import type { MerchantOrder } from '../../client/MerchantClient.js'
import { Money } from '../ui/Money.js'
import { useToken } from './shop.js'

/** The amount of an order, and its ceiling if it has one. */
export function OrderAmount({
  order,
  large = false,
}: {
  order: MerchantOrder
  large?: boolean | undefined
}): ReactNode {
  const { symbol } = useToken(order)
  const { amount, atMost, state } = order
  // The amount is the ceiling until a capture names another one.
  const isKnown = amount !== atMost || state === 'captured'
  return (
    <>
      <Money
        large={large}
        amount={amount}
        symbol={symbol}
        isCeiling={!isKnown}
      />
      {isKnown && atMost !== undefined && (
        <p className="muted cell-note">
          of <Money amount={atMost} symbol={symbol} isCeiling />
        </p>
      )}
    </>
  )
}
