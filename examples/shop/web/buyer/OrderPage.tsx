import { describeOrder } from 'countersign/client'
import type { ReactNode } from 'react'
import { BackLink } from '../../../../src/pages/ui/BackLink.js'
import { Notice } from '../../../../src/pages/ui/Notice.js'
import { Skeleton } from '../../../../src/pages/ui/Skeleton.js'
import type { KeptOrder } from '../api/keptOrders.js'
import { ShopShell } from '../ShopShell.js'
import { OrderNotFound } from './NotFound.js'
import { OrderPanel } from './OrderPanel.js'
import { OrderSummary } from './OrderSummary.js'
import { useConfig } from './useConfig.js'
import { useOrder } from './useOrder.js'

/** One order, from its signature to the end. */
export function OrderPage({
  orderId,
  kept,
}: {
  orderId: string
  kept: KeptOrder
}): ReactNode {
  const config = useConfig()
  const access = { orderId, token: kept.buyerToken }
  const followed = useOrder(access)
  const { order, link } = followed
  if (link === 'notFound') return <OrderNotFound />
  const title = order
    ? describeOrder(order, { for: 'buyer', symbol: config?.symbol }).state
    : 'Your order'
  return (
    <ShopShell title={title}>
      <div className="stack">
        <p>
          <BackLink href="/">All products</BackLink>
        </p>
        {link === 'lost' && (
          <Notice tone="warn" title="The shop cannot be reached">
            This page keeps trying. Your order is not affected.
          </Notice>
        )}
        {config && order ? (
          <div className="order">
            <OrderPanel
              access={access}
              config={config}
              kept={kept}
              followed={{ ...followed, order }}
            />
            <OrderSummary
              orderId={orderId}
              order={order}
              config={config}
              product={config.products.find(({ id }) => id === kept.product)}
            />
          </div>
        ) : (
          <Skeleton lines={8} label="Loading your order" />
        )}
      </div>
    </ShopShell>
  )
}
