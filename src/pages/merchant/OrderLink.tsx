import type { ReactNode } from 'react'
import { shortHex } from '../ui/format.js'
import { Link } from '../ui/Link.js'
import { orderPath, orderTitle, useShop } from './shop.js'

/** Leads to the page of an order, with its proof. */
export function OrderLink({
  order,
}: {
  order: Parameters<typeof orderTitle>[0] & { id: string }
}): ReactNode {
  return (
    <Link className="order-link" href={orderPath(useShop(), order.id)}>
      {orderTitle(order)}, <span title={order.id}>{shortHex(order.id)}</span>
    </Link>
  )
}
