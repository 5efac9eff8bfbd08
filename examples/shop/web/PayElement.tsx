import type { PageToken } from 'countersign/element'
import { type ReactNode, use } from 'react'
import { brand } from '../brand.js'
import { token } from '../token.js'
import type { KeptOrder } from './keptOrders.js'

declare module 'react' {
  namespace JSX {
    interface IntrinsicElements {
      'countersign-pay': {
        'order-id': string
        token: string
        name: string
        tokens: readonly PageToken[]
        onstored: () => void
        oncaptured: () => void
      }
    }
  }
}

/** Defines the element, at the first order that is shown. */
let loading: Promise<unknown> | undefined

/** Pays an order, follows it and cancels it: the product does all of that. */
export function PayElement({
  order: { orderId, buyerToken },
  onProgress,
}: {
  order: KeptOrder
  onProgress: (progress: 'stored' | 'captured') => void
}): ReactNode {
  loading ??= import('countersign/element')
  use(loading)
  return (
    <countersign-pay
      order-id={orderId}
      token={buyerToken}
      name={brand.name}
      tokens={[token]}
      onstored={() => onProgress('stored')}
      oncaptured={() => onProgress('captured')}
    />
  )
}
