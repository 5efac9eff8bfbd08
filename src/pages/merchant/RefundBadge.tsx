import type { ReactNode } from 'react'
import { Badge } from '../ui/Badge.js'
import type { BookOrder } from './applyEvent.js'
import { refundStateWords } from './refundWords.js'

/** Shows the state of an order's newest refund. */
export function RefundBadge({ order }: { order: BookOrder }): ReactNode {
  const newest = order.refunds.at(-1)
  if (!newest) return null
  const { label, tone, isBusy } = refundStateWords[newest.state]
  // If an order was paid twice, both payments can be refunded.
  const isLess =
    BigInt(order.refunded) < BigInt(order.value) || order.refundable !== '0'
  const isPart = newest.state === 'succeeded' && isLess
  return (
    <Badge tone={tone} busy={isBusy}>
      {isPart ? 'Partly refunded' : label}
    </Badge>
  )
}
