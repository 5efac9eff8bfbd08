import type { ReactNode } from 'react'
import { Money } from '../../../src/pages/ui/Money.js'
import { type Line, totalOf } from '../basket.js'
import type { Product } from '../products.js'
import { token } from '../token.js'
import { ProductArt } from './ProductArt.js'

/** The lines of a basket or an order, and their total. */
export function LineList({
  lines,
  actions,
}: {
  lines: readonly Line[]
  /** Buttons of a line. */
  actions?: (product: Product, count: number) => ReactNode
}): ReactNode {
  return (
    <>
      <ul className="lines" aria-label="What you buy">
        {lines.map(({ product, count }) => (
          <li key={product.id} className="line">
            <ProductArt id={product.id} />
            <div>
              <strong>{product.name}</strong>
              {actions ? actions(product, count) : <Count count={count} />}
            </div>
            <Money
              amount={totalOf([{ product, count }])}
              symbol={token.symbol}
            />
          </li>
        ))}
      </ul>
      <p className="row row-between total">
        <strong>Total</strong>
        <Money amount={totalOf(lines)} symbol={token.symbol} large />
      </p>
    </>
  )
}

function Count({ count }: { count: number }): ReactNode {
  return <p className="small muted">Quantity: {count}</p>
}
