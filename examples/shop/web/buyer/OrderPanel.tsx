import { describeOrder } from 'countersign/client'
import type { ReactNode } from 'react'
import { Card } from '../../../../src/pages/ui/Card.js'
import { useNow } from '../../../../src/pages/ui/clock.js'
import { Timeline } from '../../../../src/pages/ui/Timeline.js'
import type { KeptOrder } from '../api/keptOrders.js'
import type { BuyerOrder, OrderAccess } from '../api/openBuyer.js'
import type { ShopConfig } from '../api/shop.js'
import { CancelPart } from './CancelPart.js'
import { orderSteps } from './orderSteps.js'
import { PayPart } from './PayPart.js'
import { pointOf } from './pointOf.js'
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
  const isDrafted = order.state === 'drafted'
  const { state, detail, next, deadline } = describeOrder(order, {
    for: 'buyer',
    symbol: config.symbol,
    signed: isDrafted ? point === 'signed' : wasSigned,
    now: BigInt(useNow()),
  })
  const product = config.products.find(({ id }) => id === kept.product)
  return (
    <div className="stack">
      <Card>
        <div className="stack">
          <div className="stack stack-tight">
            <h1>{state}</h1>
            <p className="muted">
              {detail} {next}
            </p>
          </div>
          {deadline && <TimeLeft {...deadline} />}
          {isDrafted ? (
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
