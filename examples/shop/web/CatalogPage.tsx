import type { ReactNode } from 'react'
import { Button } from '../../../src/pages/ui/Button.js'
import { Money } from '../../../src/pages/ui/Money.js'
import { brand } from '../brand.js'
import { type Product, products } from '../products.js'
import { token } from '../token.js'
import { addToBasket } from './basketStore.js'
import { ProductArt } from './ProductArt.js'
import { ShopShell } from './ShopShell.js'

/** What there is to buy. */
export function CatalogPage(): ReactNode {
  return (
    <ShopShell title={brand.line}>
      <div className="hero">
        <h1>{brand.line}</h1>
        <p>
          Sign once in your wallet. No money moves until the shop charges you:
          no gas, no card, no sign-up. Until then you can cancel.
        </p>
      </div>
      <ul className="products" aria-label="Products">
        {products.map((product) => (
          <ProductCard key={product.id} product={product} />
        ))}
      </ul>
    </ShopShell>
  )
}

function ProductCard({ product }: { product: Product }): ReactNode {
  const { id, name, description, amount, capture } = product
  return (
    <li className="product card">
      <ProductArt id={id} />
      <div className="product-words">
        <h2>{name}</h2>
        <p className="muted">{description}</p>
        <p className="small muted">
          {capture === 'atOnce'
            ? 'Charged and delivered immediately'
            : 'Charged when it ships'}
        </p>
      </div>
      <div className="product-foot">
        <Money amount={amount} symbol={token.symbol} large />
        <Button
          variant="primary"
          aria-label={`Add ${name} to basket`}
          onClick={() => addToBasket(id, 1)}
        >
          Add to basket
        </Button>
      </div>
    </li>
  )
}
