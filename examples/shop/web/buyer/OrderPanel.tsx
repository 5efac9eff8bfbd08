import type { ReactNode } from 'react'
import type { KeptOrder } from '../api/keptOrders.js'
import type { BuyerOrder, OrderAccess } from '../api/openBuyer.js'
import type { ShopConfig } from '../api/shop.js'
import { Card } from '../ui/Card.js'
import { Timeline } from '../ui/Timeline.js'
import { CancelPart } from './CancelPart.js'
import { orderSteps } from './orderSteps.js'
import {
  ceilingToSign,
  neverSigned,
  type OrderWords,
  orderWords,
} from './orderWords.js'
import { PayPart } from './PayPart.js'
import { type OrderPoint, pointOf } from './pointOf.js'
import { refundWords } from './refundWords.js'
import { SecondSignature } from './SecondSignature.js'
import { TimeLeft } from './TimeLeft.js'
import type { useOrder } from './useOrder.js'
import { usePaying } from './usePaying.js'

export type OrderPartProps = {
  access: OrderAccess
  config: ShopConfig
  kept: KeptOrder
  followed: ReturnType<typeof useOrder> & { order: BuyerOrder }
}

/** How the order stands, and what its buyer can do about it. */
export function OrderPanel(props: OrderPartProps): ReactNode {
  const { config, kept, followed } = props
  const { order, times, newest } = followed
  const paying = usePaying(order.state)
  const { phase } = paying
  const point = pointOf(order, phase)
  const wasSigned = times.accepted !== undefined
  const { title, text } =
    refundWords(order, config) ?? wordsFor(order, point, wasSigned)
  const product = config.products.find(({ id }) => id === kept.product)
  return (
    <div className="stack">
      <Card>
        <div className="stack">
          <div className="stack stack-tight">
            <h1>{title}</h1>
            <p className="muted">{text}</p>
          </div>
          <TimeLeft point={point} window={order.window} />
          {order.state === 'drafted' ? (
            <PayPart {...props} paying={paying} />
          ) : (
            <SecondSignature paying={paying} wasSigned={wasSigned} />
          )}
          <CancelPart {...props} />
        </div>
      </Card>
      <Card title="Progress">
        <Timeline
          label="Payment progress"
          state={point}
          steps={orderSteps({
            point,
            times,
            newest,
            hash: order.transaction?.hash,
            refunds: order.refunds,
            symbol: config.symbol,
            isIdle: point === 'drafted' && phase === undefined,
            isAtOnce: product?.capture === 'atOnce',
          })}
        />
      </Card>
    </div>
  )
}

function wordsFor(
  { atMost }: BuyerOrder,
  point: OrderPoint,
  wasSigned: boolean,
): OrderWords {
  if (point === 'expired' && !wasSigned) return neverSigned
  if (point === 'drafted' && atMost !== undefined) return ceilingToSign
  return orderWords[point]
}
