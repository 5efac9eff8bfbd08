import { type ReactNode, useState } from 'react'
import { keepOrder } from '../api/keptOrders.js'
import { type Product, placeOrder } from '../api/shop.js'
import { navigate } from '../navigation.js'
import { Button } from '../ui/Button.js'
import { brand } from '../ui/brand.js'
import { Money } from '../ui/Money.js'
import { Notice } from '../ui/Notice.js'
import { PageShell } from '../ui/PageShell.js'
import { Skeleton } from '../ui/Skeleton.js'
import { ProductArt } from './ProductArt.js'
import { useConfig } from './useConfig.js'
import { useTask } from './useTask.js'

/** What there is to buy. */
export function CatalogPage(): ReactNode {
  const config = useConfig()
  const [chosen, setChosen] = useState<string>()
  const { isRunning, error, run } = useTask()
  function order(product: Product): void {
    setChosen(product.id)
    run(async (signal) => {
      const { orderId, buyerToken } = await placeOrder(product.id, signal)
      const { id, amount } = product
      keepOrder(orderId, { buyerToken, product: id, amount })
      navigate(`/order/${orderId}`)
    })
  }
  return (
    <PageShell title={brand.line}>
      <div className="hero">
        <h1>{brand.line}</h1>
        <p>
          Sign once in your wallet. No money moves until the shop charges you:
          no gas, no card, no sign-up. Until then you can cancel.
        </p>
      </div>
      {error !== undefined && (
        <Notice tone="bad" title="The order was not placed">
          Something went wrong in the shop. Try again in a moment.
        </Notice>
      )}
      {config ? (
        <ul className="products" aria-label="Products">
          {config.products.map((product) => (
            <ProductCard
              key={product.id}
              product={product}
              symbol={config.symbol}
              busy={isRunning && chosen === product.id}
              onOrder={() => order(product)}
            />
          ))}
        </ul>
      ) : (
        <Skeleton lines={6} label="Loading the products" />
      )}
    </PageShell>
  )
}

function ProductCard({
  product,
  symbol,
  busy,
  onOrder,
}: {
  product: Product
  symbol: string
  busy: boolean
  onOrder: () => void
}): ReactNode {
  const { id, name, description, amount, capture } = product
  return (
    <li className="product card">
      <ProductArt id={id} />
      <div className="product-words">
        <h2>{name}</h2>
        <p className="muted">{description}</p>
        <p className="product-terms small muted">
          {capture === 'atOnce'
            ? 'Charged and delivered immediately'
            : 'Charged when it ships'}
        </p>
      </div>
      <div className="product-foot">
        <Money amount={amount} symbol={symbol} large />
        <Button
          variant="primary"
          busy={busy}
          onClick={onOrder}
          aria-label={`Order ${name}`}
        >
          Order
        </Button>
      </div>
    </li>
  )
}
