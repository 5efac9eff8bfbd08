import type { ReactNode } from 'react'
import type { MerchantOrder } from '../../client/MerchantClient.js'
import { AddressText } from '../ui/AddressText.js'
import { Card } from '../ui/Card.js'
import { Facts } from '../ui/Facts.js'
import { HashLink } from '../ui/HashLink.js'
import { RelativeTime } from '../ui/RelativeTime.js'
import { finalityWords } from '../ui/states.js'
import { Ether } from './Ether.js'
import { transactionUrl, useToken } from './shop.js'

/** Shows the record of the transaction that settled an order. */
export function TransactionCard({
  order,
}: {
  order: MerchantOrder
}): ReactNode {
  const { capture, cancellation } = order
  const token = useToken(order)
  const settled = capture ?? cancellation
  return (
    <Card title="On record">
      <Facts
        long
        items={[
          [
            'Transaction',
            settled && (
              <HashLink
                key="t"
                whole
                hash={settled.transactionHash}
                href={transactionUrl(token, settled.transactionHash)}
              />
            ),
          ],
          [
            'Block',
            settled && (
              <span key="b" className="numbers">
                {settled.blockNumber}
                {capture && `, log ${capture.logIndex}`}
                {', '}
                <RelativeTime at={settled.blockTime} />
              </span>
            ),
          ],
          ['Finality', settled && finalityWords[settled.finality]],
          [
            'Submitter',
            capture && (
              <AddressText
                key="s"
                whole
                address={capture.submitter}
                label="submitter’s address"
              />
            ),
          ],
          [
            'Gas',
            capture && `${Number(capture.gasUsed).toLocaleString('en')} units`,
          ],
          ['Fee', capture && <Ether key="f" wei={capture.fee} />],
          [
            'Payer',
            order.payer && (
              <AddressText
                key="p"
                whole
                address={order.payer}
                label="payer’s address"
              />
            ),
          ],
          [
            'Recipient',
            <AddressText
              key="r"
              whole
              address={order.recipient}
              label="recipient’s address"
            />,
          ],
          [
            'Token',
            <AddressText
              key="k"
              whole
              address={order.token}
              label="token’s address"
            />,
          ],
          ['Chain', order.chainId],
          [
            'Nonce',
            <HashLink key="n" whole hash={order.nonce} label="nonce" />,
          ],
          ['Message', order.primaryType],
          ['Attempt', order.attempt],
        ]}
      />
    </Card>
  )
}
