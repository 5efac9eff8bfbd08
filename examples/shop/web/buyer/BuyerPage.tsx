import { type ReactNode, useEffect } from 'react'
import { findKeptOrder } from '../api/keptOrders.js'
import { announceDevelopmentWallet } from '../wallet/announceDevelopmentWallet.js'
import { discoverWallets, useWallets } from '../wallet/announcedWallets.js'
import { CatalogPage } from './CatalogPage.js'
import { reconnect } from './connection.js'
import { NotFound, OrderNotFound } from './NotFound.js'
import { OrderPage } from './OrderPage.js'
import './buyer.css'

announceDevelopmentWallet()
discoverWallets()

/** All that a buyer sees. */
export function BuyerPage({ path }: { path: string }): ReactNode {
  const wallets = useWallets()
  useEffect(() => {
    reconnect(wallets)
  }, [wallets])
  if (path === '/') return <CatalogPage />
  const [, orderId] = /^\/order\/([^/]+)$/.exec(path) ?? []
  if (!orderId)
    return (
      <NotFound title="Page not found">
        There is no page at this address.
      </NotFound>
    )
  const kept = findKeptOrder(orderId)
  if (!kept) return <OrderNotFound />
  return <OrderPage key={orderId} orderId={orderId} kept={kept} />
}
