import { type ReactNode, useState } from 'react'
import { BackLink } from '../../../src/pages/ui/BackLink.js'
import { Card } from '../../../src/pages/ui/Card.js'
import { Notice } from '../../../src/pages/ui/Notice.js'
import { linesOf } from '../basket.js'
import type { KeptOrder } from './keptOrders.js'
import { LineList } from './LineList.js'
import { PayElement, type Progress } from './PayElement.js'
import { ShopShell } from './ShopShell.js'

/** One order: its payment, and what it is for. */
export function OrderPage({ order }: { order: KeptOrder }): ReactNode {
  const [progress, setProgress] = useState<Progress>()
  const lines = linesOf(order.basket)
  const isShipped = lines.some(({ product }) => product.capture !== 'atOnce')
  return (
    <ShopShell title="Your order">
      <div className="stack">
        <p>
          <BackLink href="/orders">Your orders</BackLink>
        </p>
        <div className="order">
          <PayElement order={order} onProgress={setProgress} />
          <div className="stack">
            {progress && progress !== 'over' && (
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

function thanks(progress: Progress, isShipped: boolean): string {
  if (progress === 'captured')
    return isShipped
      ? 'It is paid and on its way to you.'
      : 'It is paid. Your download is ready.'
  return isShipped
    ? 'We roast it now, and charge you when it ships.'
    : 'Your download is ready in a moment.'
}
