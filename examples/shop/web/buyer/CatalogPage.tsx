import { ProblemError, ServerError } from 'countersign/client'
import { type ReactNode, useState } from 'react'
import { Button } from '../../../../src/pages/ui/Button.js'
import { groupAmount } from '../../../../src/pages/ui/format.js'
import { Money } from '../../../../src/pages/ui/Money.js'
import { Notice } from '../../../../src/pages/ui/Notice.js'
import { navigate } from '../../../../src/pages/ui/navigation.js'
import { Skeleton } from '../../../../src/pages/ui/Skeleton.js'
import { keepOrder } from '../api/keptOrders.js'
import { type Product, placeOrder } from '../api/shop.js'
import { brand } from '../brand.js'
import { ShopShell } from '../ShopShell.js'
import { type Connection, connect, useConnection } from './connection.js'
import { ProductArt } from './ProductArt.js'
import { useConfig } from './useConfig.js'
import { useTask } from './useTask.js'
import { WalletDialog } from './WalletDialog.js'

/** What there is to buy. */
export function CatalogPage(): ReactNode {
  const config = useConfig()
  const [chosen, setChosen] = useState<string>()
  const [asking, setAsking] = useState<Product>()
  const connection = useConnection()
  const { isRunning, error, run } = useTask()
  function place(
    { id, amount, atMost }: Product,
    getPayer?: () => Promise<Connection>,
  ): void {
    setChosen(id)
    run(async (signal) => {
      const payer = (await getPayer?.())?.account
      const placed = await placeOrder({ product: id, payer, signal })
      keepOrder(placed.orderId, {
        buyerToken: placed.buyerToken,
        product: id,
        amount: atMost ?? amount,
        total: atMost === undefined ? 'amount' : 'atMost',
      })
      navigate(`/order/${placed.orderId}`)
    })
  }
  function order(product: Product): void {
    if (product.atMost === undefined) place(product)
    // What the buyer signs for a ceiling names the account.
    else if (connection) place(product, async () => connection)
    else setAsking(product)
  }
  return (
    <ShopShell title={brand.line}>
      <div className="hero">
        <h1>{brand.line}</h1>
        <p>
          Sign once in your wallet. No money moves until the shop charges you:
          no gas, no card, no sign-up. Until then you can cancel.
        </p>
      </div>
      {error !== undefined && (
        <Notice tone="bad" title="The order was not placed">
          {error instanceof ProblemError || error instanceof ServerError
            ? 'Something went wrong in the shop. Try again in a moment.'
            : 'Your wallet showed no account. Try again, or choose another wallet.'}
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
      <WalletDialog
        open={asking !== undefined}
        onChoose={(wallet) => {
          setAsking(undefined)
          if (asking) place(asking, () => connect(wallet))
        }}
        onClose={() => setAsking(undefined)}
      />
    </ShopShell>
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
  const { id, name, description, amount, atMost, capture } = product
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
          {atMost !== undefined &&
            `: ${groupAmount(amount)} ${symbol} and the shipping`}
        </p>
      </div>
      <div className="product-foot">
        <Money
          amount={atMost ?? amount}
          symbol={symbol}
          isCeiling={atMost !== undefined}
          large
        />
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
