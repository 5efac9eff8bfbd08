import type { ReactNode } from 'react'
import { AddressText } from '../../../../src/pages/ui/AddressText.js'
import { Card } from '../../../../src/pages/ui/Card.js'
import { Facts } from '../../../../src/pages/ui/Facts.js'
import { HashLink } from '../../../../src/pages/ui/HashLink.js'
import { Money } from '../../../../src/pages/ui/Money.js'
import type { BuyerOrder } from '../api/openBuyer.js'
import type { Product, ShopConfig } from '../api/shop.js'
import { ProductArt } from './ProductArt.js'

/** What is bought, from whom, and on what terms. */
export function OrderSummary({
  orderId,
  order,
  config,
  product,
}: {
  orderId: string
  order: BuyerOrder
  config: ShopConfig
  product: Product | undefined
}): ReactNode {
  const { amount, atMost, recipient, token } = order
  const { symbol } = config
  return (
    <Card title="Your order">
      {product && (
        <div className="summary-product">
          <ProductArt id={product.id} />
          <div>
            <p>
              <strong>{product.name}</strong>
            </p>
            <p className="muted small">{product.description}</p>
          </div>
        </div>
      )}
      <Facts
        items={[
          [
            'You sign',
            atMost !== undefined && (
              <Money key="most" amount={atMost} symbol={symbol} isCeiling />
            ),
          ],
          [
            atMost === undefined ? 'Amount' : 'You pay',
            isTotalKnown(order) ? (
              <Money key="amount" amount={amount} symbol={symbol} />
            ) : (
              'the total with shipping'
            ),
          ],
          [
            'Charged',
            product?.capture === 'atOnce' ? 'immediately' : 'when it ships',
          ],
          [
            'To',
            <AddressText
              key="to"
              address={recipient}
              label="the shop’s address"
            />,
          ],
          [
            'Token',
            <AddressText key="token" address={token} label="token address" />,
          ],
          [
            'Order',
            <HashLink key="order" hash={orderId} label="order number" />,
          ],
        ]}
      />
    </Card>
  )
}

/** False until the shop has charged an order with a ceiling. */
function isTotalKnown({ atMost, amount, state }: BuyerOrder): boolean {
  return atMost === undefined || amount !== atMost || state === 'captured'
}
