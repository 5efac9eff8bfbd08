import type { DevChain } from 'countersign/devchain'
import { createPaymentHandler } from 'countersign/http'
import type { Orders } from 'countersign/orders'
import { createPages } from 'countersign/pages'
import { Hono } from 'hono'
import { brand } from '../brand.js'
import { authorizeMerchant } from './authorizeMerchant.js'
import { guardPage, refuseCrossSite } from './guardPage.js'
import { servePage } from './servePage.js'
import { shopRoutes } from './shopRoutes.js'

export type CreateAppParameters = {
  orders: Orders
  chain: DevChain
  merchantKey: string
  /** Folder of the built page. */
  page: string
}

/** Everything the shop answers under its one origin. */
export function createApp(parameters: CreateAppParameters): Hono {
  const { orders, chain, merchantKey, page } = parameters
  const authorize = authorizeMerchant(merchantKey, [
    chain.clients.merchant.account.address,
  ])
  const handlePayments = createPaymentHandler(orders, {
    basePath: '/payments',
    authorize,
  })
  const pages = createPages(orders, {
    payments: '/payments',
    name: brand.name,
    merchant: { authorize, write: true },
  })
  const app = new Hono()
  app.use(guardPage)
  app.all('/payments/*', (context) => handlePayments(context.req.raw))
  app.on(['GET', 'POST', 'HEAD'], ['/merchant', '/merchant/*'], (context) =>
    pages(context.req.raw),
  )
  app.use('/shop/*', refuseCrossSite)
  app.route('/shop', shopRoutes(parameters))
  app.route('/', servePage(page))
  app.onError((_error, context) => context.json({ reason: 'internal' }, 500))
  return app
}
