import type { DevChain } from 'countersign/devchain'
import type { Orders } from 'countersign/orders'
import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { type Address, erc20Abi, isAddress } from 'viem'
import { readContract } from 'viem/actions'
import { describeLines, linesOf, totalOf } from '../basket.js'

/** What a wallet of the page holds after a visit to the faucet. */
const fullPurse = 1_000n * 10n ** 6n

type ShopRoutesParameters = { orders: Orders; chain: DevChain }

/** What the shop itself answers, beside the payments. */
export function shopRoutes({ orders, chain }: ShopRoutesParameters): Hono {
  const app = new Hono()
  app.use(bodyLimit({ maxSize: 4_096 }))

  // The server knows the prices: a page only says what is in the basket.
  app.post('/orders', async (context) => {
    const { basket } = Object(await readJson(context.req.raw))
    const lines = linesOf(basket)
    if (lines.length === 0 || lines.length < Object.keys(basket).length)
      return context.json({ reason: 'invalidBasket' }, 400)
    const isDigital = lines.every(({ product }) => product.capture === 'atOnce')
    const { order, buyerToken } = await orders.draft({
      amount: totalOf(lines),
      metadata: {
        description: describeLines(lines),
        capture: isDigital ? 'atOnce' : 'onShipping',
      },
    })
    return context.json({ orderId: order.id, buyerToken }, 201)
  })

  app.post('/faucet', async (context) => {
    const { address } = Object(await readJson(context.req.raw))
    if (typeof address !== 'string' || !isAddress(address))
      return context.json({ reason: 'invalidAddress' }, 400)
    await fillPurse(chain, address)
    return context.json({ address })
  })
  return app
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
