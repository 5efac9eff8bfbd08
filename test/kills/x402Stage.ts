import { createX402Gate } from 'countersign/x402'
import type { Shop } from './openShop.js'
import type { Kill, ShopPlan } from './plan.js'

/** What a process that answers a paid request is told, as JSON. */
export type X402Plan = ShopPlan & {
  flow: 'authorization' | 'upfront'
  repeatable: boolean
  /** True to answer before a block has the capture. */
  isEarly?: boolean | undefined
  /** The payment header; empty to ask for the price. */
  header: string
  /** The file that each run of the handler adds a line to. */
  runs: string
  kill?: Kill | undefined
}

/** What it tells before it ends by itself. */
export type X402Told = {
  points: readonly string[]
  status: number
  body: string
  settled: string
}

/** The same gate in every process. */
export function openKilledGate(
  { orders }: Shop,
  {
    flow,
    repeatable,
    isEarly = false,
  }: Pick<X402Plan, 'flow' | 'repeatable' | 'isEarly'>,
  work: (orderId: string) => Promise<void>,
): (header: string) => Promise<Response> {
  const gate = createX402Gate({
    orders,
    offers: {
      work: {
        amount: '0.01',
        flow,
        repeatable,
        ...(isEarly
          ? { answerAt: 'preconfirmed', preconfirmedUpTo: '0.01' }
          : {}),
      },
    },
  })
  const sell = gate.protect('work', async (_, { orderId }) => {
    await work(orderId)
    return new Response('the goods')
  })
  const url = 'https://shop.example/work'
  return (header) =>
    sell(
      new Request(url, {
        headers: header ? { 'PAYMENT-SIGNATURE': header } : {},
      }),
    )
}
