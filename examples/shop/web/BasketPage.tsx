import { type ReactNode, useState } from 'react'
import { Button, ButtonLink } from '../../../src/pages/ui/Button.js'
import { Card } from '../../../src/pages/ui/Card.js'
import { EmptyState } from '../../../src/pages/ui/EmptyState.js'
import { Notice } from '../../../src/pages/ui/Notice.js'
import { navigate } from '../../../src/pages/ui/navigation.js'
import { type Line, maxCount } from '../basket.js'
import type { Product } from '../products.js'
import { askShop } from './askShop.js'
import { addToBasket, emptyBasket, useBasket } from './basketStore.js'
import { keepOrder } from './keptOrders.js'
import { LineList } from './LineList.js'
import { ShopShell } from './ShopShell.js'

/** What the visitor wants to buy, and the way to pay for it. */
export function BasketPage(): ReactNode {
  const lines = useBasket()
  const [status, setStatus] = useState<'idle' | 'placing' | 'failed'>('idle')
  const checkOut = (): void => {
    setStatus('placing')
    placeOrder(lines).then(
      (orderId) => navigate(`/orders/${orderId}`),
      () => setStatus('failed'),
    )
  }
  return (
    <ShopShell title="Basket">
      <div className="stack stack-wide">
        <h1>Basket</h1>
        {status === 'failed' && (
          <Notice tone="bad" title="The order was not placed">
            Something went wrong in the shop. Try again in a moment.
          </Notice>
        )}
        {lines.length === 0 ? (
          <EmptyState
            title="Your basket is empty"
            action={<ButtonLink href="/">See all products</ButtonLink>}
          />
        ) : (
          <Card>
            <LineList
              lines={lines}
              actions={(product, count) => (
                <Stepper product={product} count={count} />
              )}
            />
            <div className="row row-end">
              <ButtonLink href="/" variant="quiet">
                Keep shopping
              </ButtonLink>
              <Button
                variant="primary"
                busy={status === 'placing'}
                onClick={checkOut}
              >
                Check out
              </Button>
            </div>
          </Card>
        )}
      </div>
    </ShopShell>
  )
}

/** Places the order; one that nobody pays expires by itself. */
async function placeOrder(lines: readonly Line[]): Promise<string> {
  const basket = Object.fromEntries(
    lines.map(({ product, count }) => [product.id, count]),
  )
  const { orderId, buyerToken } = await askShop<{
    orderId: string
    buyerToken: string
  }>('/shop/orders', { basket })
  keepOrder({ orderId, buyerToken, basket, placedAt: Date.now() })
  emptyBasket()
  return orderId
}

function Stepper({
  product: { id, name },
  count,
}: {
  product: Product
  count: number
}): ReactNode {
  return (
    <div className="row">
      <Button
        size="small"
        aria-label={`One ${name} less`}
        onClick={() => addToBasket(id, -1)}
      >
        −
      </Button>
      <span>{count}</span>
      <Button
        size="small"
        aria-label={`One ${name} more`}
        disabled={count === maxCount}
        onClick={() => addToBasket(id, 1)}
      >
        +
      </Button>
    </div>
  )
}
