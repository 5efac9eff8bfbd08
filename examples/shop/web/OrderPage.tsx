import { type ReactNode, Suspense, useState } from 'react'
import { BackLink } from '../../../src/pages/ui/BackLink.js'
import { Card } from '../../../src/pages/ui/Card.js'
import { Notice } from '../../../src/pages/ui/Notice.js'
import { Skeleton } from '../../../src/pages/ui/Skeleton.js'
import { linesOf } from '../basket.js'
import type { KeptOrder } from './keptOrders.js'
import { LineList } from './LineList.js'
import { PayElement } from './PayElement.js'
import { ShopShell } from './ShopShell.js'

/** One order: its payment, and what it is for. */
export function OrderPage({ order }: { order: KeptOrder }): ReactNode {
  const [progress, setProgress] = useState<'stored' | 'captured'>()
  const lines = linesOf(order.basket)
  const isShipped = lines.some(({ product }) => product.capture !== 'atOnce')
  return (
    <ShopShell title="Your order">
      <div className="stack">
        <p>
          <BackLink href="/orders">Your orders</BackLink>
        </p>
        <div className="order">
          <Suspense
            fallback={<Skeleton lines={8} label="Loading your order" />}
          >
            <PayElement order={order} onProgress={setProgress} />
          </Suspense>
          <div className="stack">
            {progress && (
              <Notice tone="good" title="Thank you for your order">
                {thanks(progress, isShipped)}
              </Notice>
            )}
            <Card title="Your order">
              <LineList lines={lines} />
            </Card>
          </div>
        </div>
      </div>
    </ShopShell>
  )
}

function thanks(progress: 'stored' | 'captured', isShipped: boolean): string {
  if (progress === 'captured')
    return isShipped
      ? 'It is paid and on its way to you.'
      : 'It is paid. Your download is ready.'
  return isShipped
    ? 'We roast it now, and charge you when it ships.'
    : 'Your download is ready in a moment.'
}
