import type { ReactNode } from 'react'
import { Badge, StateBadge } from '../ui/Badge.js'
import { finalityWords } from '../ui/states.js'
import type { BookOrder } from './applyEvent.js'
import { RefundBadge } from './RefundBadge.js'
import { reasonWords } from './reasonWords.js'

/** Shows the state of an order, its finality, and problems. */
export function OrderStatus({ order }: { order: BookOrder }): ReactNode {
  const { state, pending, preconfirmed, needsReview, unexpected, overpaid } =
    order
  const note = noteOf(order)
  return (
    <div className="status">
      <span className="row status-badges">
        {preconfirmed && state === 'capturing' ? (
          <Badge
            tone="good"
            busy
            title="In a block that is not complete yet; it can still be dropped."
          >
            Pre-confirmed
          </Badge>
        ) : (
          <StateBadge state={pending ? 'capturing' : state} />
        )}
        <RefundBadge order={order} />
        {needsReview && <Badge tone="warn">Needs review</Badge>}
        {unexpected && <Badge tone="bad">Refund due</Badge>}
        {overpaid && <Badge tone="bad">Overpaid</Badge>}
      </span>
      {note && (
        <p
          className={
            order.failure || order.reason
              ? 'cell-note cell-warn'
              : 'muted cell-note'
          }
        >
          {note}
        </p>
      )}
    </div>
  )
}

function noteOf(order: BookOrder): string | undefined {
  const { state, requested, reason, capture, cancellation, pending } = order
  if (order.failure && !pending) return order.failure
  const settled = capture ?? cancellation
  if (settled) return finalityWords[settled.finality]
  if (pending) return undefined
  if (order.isCancelKept) return 'the buyer asks to cancel'
  if (requested === 'cancel') return 'cancellation in flight'
  if (requested === 'void') return 'will be voided if the capture fails'
  if (requested === 'capture' && state === 'stored') return 'capture requested'
  return reason && reasonWords(reason)
}
