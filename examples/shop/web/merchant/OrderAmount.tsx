import type { MerchantOrder } from 'countersign/client'
import type { ReactNode } from 'react'
import { Money } from '../ui/Money.js'
import { useShop } from './shopConfig.js'

/** The amount of an order, and its ceiling if it has one. */
export function OrderAmount({
  order,
  large = false,
}: {
  order: MerchantOrder
  large?: boolean | undefined
}): ReactNode {
  const { symbol } = useShop()
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
