import type { ReactNode } from 'react'
import { formatAmount } from '../../core/amount.js'
import { AddressText } from '../ui/AddressText.js'
import { Badge } from '../ui/Badge.js'
import { Card } from '../ui/Card.js'
import { Facts } from '../ui/Facts.js'
import { HashLink } from '../ui/HashLink.js'
import { Money } from '../ui/Money.js'
import { finalityWords } from '../ui/states.js'
import type { PageToken } from '../web/pageData.js'
import type { BookOrder } from './applyEvent.js'
import {
  refundReasonWords,
  refundStateWords,
  refundWords,
} from './refundWords.js'
import { transactionUrl, useToken } from './shop.js'

type ShownRefund = BookOrder['refunds'][number]

/** Lists the refunds of an order, and the amount that is left to refund. */
export function RefundsCard({ order }: { order: BookOrder }): ReactNode {
  const token = useToken(order)
  const { refunds, refundable } = order
  const { symbol, decimals } = token
  if (refunds.length === 0) return null
  const left = formatAmount(BigInt(refundable), decimals)
  return (
    <Card title="Refunds">
      <div className="stack stack-wide">
        {refunds.map((refund) => (
          <OneRefund key={refund.refundId} refund={refund} token={token} />
        ))}
        <p>
          Left to refund: <Money amount={left} symbol={symbol} />
        </p>
      </div>
    </Card>
  )
}

function OneRefund({
  refund,
  token,
}: {
  refund: ShownRefund
  token: PageToken
}): ReactNode {
  const { symbol } = token
  const { amount, state, failure, reason, to, transfer } = refund
  const { label, tone, isBusy } = refundStateWords[state]
  return (
    <Facts
      long
      items={[
        ['Amount', <Money key="a" amount={amount} symbol={symbol} />],
        [
          'State',
          <Badge key="s" tone={tone} busy={isBusy}>
            {label}
          </Badge>,
        ],
        ['Why it failed', failure && refundWords(failure)],
        ['Reason', reason && refundReasonWords[reason]],
        ['To', <AddressText key="t" address={to} label="refunded address" />],
        [
          'Transaction',
          transfer && (
            <HashLink
              key="h"
              hash={transfer.transactionHash}
              href={transactionUrl(token, transfer.transactionHash)}
              label="refund’s transaction hash"
            />
          ),
        ],
        ['Finality', transfer && finalityWords[transfer.finality]],
      ]}
    />
  )
}
