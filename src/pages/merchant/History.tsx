import type { ReactNode } from 'react'
import type { MerchantEvent } from '../../client/MerchantClient.js'
import { formatAmount } from '../../core/amount.js'
import type { OrderEventType } from '../../orders/index.js'
import { Card } from '../ui/Card.js'
import { HashLink } from '../ui/HashLink.js'
import { RelativeTime } from '../ui/RelativeTime.js'
import { finalityWords } from '../ui/states.js'
import { Timeline } from '../ui/Timeline.js'
import { reasonWords } from './reasonWords.js'
import { refundReasonWords, refundWords } from './refundWords.js'
import { transactionUrl, useToken } from './shop.js'

const titles: Partial<Record<OrderEventType, string>> = {
  drafted: 'Drafted',
  accepted: 'Signature accepted and stored',
  captureRequested: 'Capture requested',
  capturing: 'Capture sent',
  preconfirmed: 'Pre-confirmed',
  captureRejected: 'Capture rejected',
  reopened: 'Will be sent again',
  permissionApproved: 'Spend permission approved',
  captured: 'Captured',
  voided: 'Voided',
  cancellationAccepted: 'Buyer asks to cancel',
  canceling: 'Cancellation sent',
  cancelRejected: 'Cancellation rejected',
  canceled: 'Canceled',
  expired: 'Expired',
  consumed: 'Nonce used elsewhere',
  reauthorized: 'Buyer asked to sign again',
  fulfil: 'Ready to fulfil',
  reorged: 'Block replaced by the chain',
  deadlineNear: 'Deadline is near',
  refundDue: 'Refund is due',
  overpaid: 'Paid a second time',
  refundRequested: 'Refund requested',
  refunded: 'Refunded',
  refundFailed: 'Refund failed',
  servedUnpaid: 'Answered, but not paid',
  lossAfterFulfilment: 'Payment lost after fulfilment',
  needsReview: 'Payer needs review',
  subscriptionPastDue: 'Subscription past due',
  subscriptionUnpaid: 'Subscription unpaid',
}

const failures: readonly OrderEventType[] = [
  'captureRejected',
  'cancelRejected',
  'consumed',
  'reorged',
  'refundDue',
  'overpaid',
  'refundFailed',
  'servedUnpaid',
  'lossAfterFulfilment',
  'needsReview',
]

/** Lists the events of an order, from the first one on. */
export function History({
  events,
}: {
  events: readonly MerchantEvent[]
}): ReactNode {
  return (
    <Card title="History">
      <Timeline
        label="What happened"
        steps={events.map((event) => ({
          key: event.cursor,
          title: titleOf(event),
          status: failures.includes(event.type) ? 'failed' : 'done',
          time: <RelativeTime at={Math.floor(Number(event.at) / 1000)} />,
          note: <EventNote event={event} />,
        }))}
      />
      {events.length === 0 && <p className="quiet-line">Reading…</p>}
    </Card>
  )
}

function EventNote({ event }: { event: MerchantEvent }): ReactNode {
  const token = useToken(event)
  if (event.type === 'refundRequested' || event.type === 'refundFailed')
    return <RefundNote event={event} />
  if (event.type === 'captureRequested') return <RequestNote event={event} />
  const { data } = event
  const facts: Readonly<Record<string, unknown>> = data
  const { reason, transactionHash, blockNumber } = facts
  if (typeof reason === 'string') return reasonWords(reason)
  if (typeof transactionHash !== 'string') return undefined
  return (
    <>
      <HashLink
        hash={transactionHash}
        href={transactionUrl(token, transactionHash)}
      />
      {typeof blockNumber === 'string' && ` block ${blockNumber}`}
    </>
  )
}

/** Shows the amount of a ceiling that the merchant asked to capture. */
function RequestNote({
  event,
}: {
  event: Extract<MerchantEvent, { type: 'captureRequested' }>
}): ReactNode {
  const { symbol, decimals } = useToken(event)
  const { value } = event.data
  return value && `${formatAmount(BigInt(value), decimals)} ${symbol}`
}

function RefundNote({
  event,
}: {
  event: Extract<MerchantEvent, { type: 'refundRequested' | 'refundFailed' }>
}): ReactNode {
  const { symbol, decimals } = useToken(event)
  const { type, data } = event
  const amount = formatAmount(BigInt(data.value), decimals)
  if (type === 'refundFailed')
    return `${amount} ${symbol}: ${refundWords(data.reason)}`
  const { reason } = data
  const why = reason && `: ${refundReasonWords[reason].toLowerCase()}`
  return `${amount} ${symbol}${why ?? ''}`
}

function titleOf(event: MerchantEvent): string {
  return event.type === 'finalityRaised'
    ? `Finality: ${finalityWords[event.data.finality]}`
    : (titles[event.type] ?? event.type)
}
