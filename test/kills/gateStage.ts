import { appendFileSync } from 'node:fs'
import { createX402Gate } from 'countersign/x402'
import { openShop, type Shop } from './openShop.js'
import type { ShopPlan } from './plan.js'

/** What a process that answers paid requests is told, as JSON. */
export type GatePlan = ShopPlan & {
  /** The file that each run of a handler adds its order to. */
  runs: string
}

/**
 * The same gate in every process. It sells `/work` and `/upfront`; the work
 * takes as many milliseconds as the query `takes` says.
 */
export function openServedGate(plan: GatePlan): {
  shop: Shop
  answer: (request: Request) => Promise<Response>
} {
  const shop = openShop(plan)
  const gate = createX402Gate({
    orders: shop.orders,
    offers: {
      work: { amount: '0.01' },
      upfront: { amount: '0.01', flow: 'upfront' },
    },
    // Each process has an address of its own.
    resource: ({ url }) => url.slice(new URL(url).origin.length),
  })
  return {
    shop,
    answer: (request) => {
      const { pathname, searchParams } = new URL(request.url)
      return gate.answer(request, {
        offer: pathname.slice(1),
        handler: async (_, { orderId }) => {
          appendFileSync(plan.runs, `${orderId}\n`)
          const takes = Number(searchParams.get('takes'))
          await new Promise((resolve) => setTimeout(resolve, takes))
          return new Response(`goods for ${orderId}`)
        },
      })
    },
  }
}
