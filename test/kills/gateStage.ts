import { appendFileSync } from 'node:fs'
import { createFacilitator, createX402Gate } from 'countersign/x402'
import { openShop, type Shop, type Wrapping } from './openShop.js'
import type { Kill, ShopPlan } from './plan.js'

/** What a process that answers paid requests is told, as JSON. */
export type GatePlan = ShopPlan & {
  /** The file that each run of a handler adds its order to. */
  runs: string
  kill?: Kill | undefined
}

/**
 * The same gate in every process. It sells `/work`, `/repeat`, whose work may be
 * done again, and `/upfront`. The work takes as many milliseconds as the query
 * `takes` says, and ends once so many as `together` says are done. A facilitator
 * over the same orders answers `/settle`.
 */
export function openServedGate(
  plan: GatePlan,
  wrap: Wrapping = {},
): {
  shop: Shop
  answer: (request: Request) => Promise<Response>
} {
  const shop = openShop(plan, wrap)
  const facilitator = createFacilitator({
    orders: shop.orders,
    // How fast the machine is decides nothing.
    timeout: 300_000,
    authorize: () => ({ name: 'server', gasPerDay: 100_000_000n }),
  })
  const meet = openMeeting()
  const gate = createX402Gate({
    orders: shop.orders,
    offers: {
      work: { amount: '0.01' },
      repeat: { amount: '0.01', repeatable: true },
      upfront: { amount: '0.01', flow: 'upfront' },
    },
    // Each process has an address of its own.
    resource: ({ url }) => url.slice(new URL(url).origin.length),
  })
  return {
    shop,
    answer: (request) => {
      const { pathname, searchParams } = new URL(request.url)
      if (pathname === '/settle') return facilitator.handle(request)
      return gate.answer(request, {
        offer: pathname.slice(1),
        handler: async (_, { orderId }) => {
          appendFileSync(plan.runs, `${orderId}\n`)
          const takes = Number(searchParams.get('takes'))
          await new Promise((resolve) => setTimeout(resolve, takes))
          await meet(Number(request.headers.get('together')))
          return new Response(`goods for ${orderId}`)
        },
      })
    },
  }
}

/** Lets those who wait go on together, once they are as many as was said. */
function openMeeting(): (count: number) => Promise<void> {
  let waiting: (() => void)[] = []
  return (count) =>
    new Promise((resolve) => {
      waiting.push(resolve)
      if (waiting.length < count) return
      for (const goOn of waiting) goOn()
      waiting = []
    })
}
