import type { ReactNode } from 'react'
import { Badge } from '../ui/Badge.js'
import type { BookOrder } from './applyEvent.js'
import { refundStateWords } from './refundWords.js'

/** How the newest refund of an order fares. */
export function RefundBadge({ order }: { order: BookOrder }): ReactNode {
  const newest = order.refunds.at(-1)
  if (!newest) return null
  const { label, tone, isBusy } = refundStateWords[newest.state]
  // Of an order that was paid twice, both payments can be refunded.
  const isLess =
    BigInt(order.refunded) < BigInt(order.value) || order.refundable !== '0'
  const isPart = newest.state === 'succeeded' && isLess
  return (
    <Badge tone={tone} busy={isBusy}>
      {isPart ? 'Partly refunded' : label}
    </Badge>
  )
}
