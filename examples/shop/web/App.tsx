import type { ReactNode } from 'react'
import { usePath } from '../../../src/pages/ui/navigation.js'
import { BasketPage } from './BasketPage.js'
import { CatalogPage } from './CatalogPage.js'
import { findOrder } from './keptOrders.js'
import { NotFound } from './NotFound.js'
import { OrderPage } from './OrderPage.js'
import { OrdersPage } from './OrdersPage.js'

export function App(): ReactNode {
  const path = usePath()
  if (path === '/') return <CatalogPage />
  if (path === '/basket') return <BasketPage />
  if (path === '/orders') return <OrdersPage />
  const [, orderId] = /^\/orders\/([^/]+)$/.exec(path) ?? []
  if (!orderId)
    return (
      <NotFound title="Page not found">
        There is no page at this address.
      </NotFound>
    )
  const order = findOrder(orderId)
  return order ? (
    <OrderPage key={orderId} order={order} />
  ) : (
    <NotFound title="Order not found">
      You can see an order only in the browser in which you placed it.
    </NotFound>
  )
}
