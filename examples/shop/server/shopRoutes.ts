import type { DevChain } from 'countersign/devchain'
import type { Orders } from 'countersign/orders'
import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { type Address, erc20Abi, isAddress } from 'viem'
import { readContract } from 'viem/actions'
import type { ShopTerms } from '../web/api/terms.js'
import { products } from './products.js'

/** What a wallet of the page holds after a visit to the faucet. */
const fullPurse = 1_000n * 10n ** 6n

type ShopRoutesParameters = {
  orders: Orders
  chain: DevChain
  terms: ShopTerms
}

/** What the shop itself answers, beside the payments. */
export function shopRoutes(parameters: ShopRoutesParameters): Hono {
  const { orders, chain, terms } = parameters
  const app = new Hono()
  app.use(bodyLimit({ maxSize: 4_096 }))

  app.get('/config', (context) => context.json({ ...terms, products }))

  app.post('/orders', async (context) => {
    const { product: id, payer } = Object(await readJson(context.req.raw))
    const product = products.find((one) => one.id === id)
    if (!product) return context.json({ reason: 'unknownProduct' }, 404)
    const { amount, atMost, capture, name } = product
    const metadata = { description: name, product: product.id, capture }
    // The terms of a ceiling name the payer.
    if (atMost !== undefined && !isPayer(payer))
      return context.json({ reason: 'invalidAddress' }, 400)
    const { order, buyerToken } = await orders.draft(
      atMost === undefined ? { amount, metadata } : { atMost, payer, metadata },
    )
    return context.json({ orderId: order.id, buyerToken }, 201)
  })

  app.post('/faucet', async (context) => {
    const { address } = Object(await readJson(context.req.raw))
    if (!isPayer(address))
      return context.json({ reason: 'invalidAddress' }, 400)
    await fillPurse(chain, address)
    return context.json({ address })
  })
  return app
}

function isPayer(given: unknown): given is Address {
  return typeof given === 'string' && isAddress(given)
}

function readJson(request: Request): Promise<unknown> {
  return request.json().catch(() => undefined)
}

async function fillPurse(chain: DevChain, to: Address): Promise<void> {
  const balance = await readContract(chain.clients.public, {
    address: chain.token,
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [to],
  })
  if (balance < fullPurse / 2n)
    await chain.mint({ to, value: fullPurse - balance })
}
