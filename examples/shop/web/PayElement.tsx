import {
  type PageToken,
  type PaymentEvents,
  payElementName,
} from 'countersign/element'
import type { ReactNode } from 'react'
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
        onfailed: (event: CustomEvent<PaymentEvents['failed']>) => void
      }
    }
  }
}

// Named by its constant: builds from source drop an import that nothing uses.
const Pay = payElementName

/** How far the payment is; `over` if it can never be charged. */
export type Progress = 'stored' | 'captured' | 'over'

/** Pays an order, follows it and cancels it: the product does all of that. */
export function PayElement({
  order: { orderId, buyerToken },
  onProgress,
}: {
  order: KeptOrder
  onProgress: (progress: Progress) => void
}): ReactNode {
  return (
    <Pay
      order-id={orderId}
      token={buyerToken}
      name={brand.name}
      tokens={[token]}
      onstored={() => onProgress('stored')}
      oncaptured={() => onProgress('captured')}
      onfailed={({ detail: { reason } }) => {
        if (['canceled', 'voided', 'expired', 'consumed'].includes(reason))
          onProgress('over')
      }}
    />
  )
}
