import type { Orders } from 'countersign/orders'
import { createFacilitator } from 'countersign/x402'
import type { Kill, ShopPlan } from './plan.js'

/** What a process that settles is told, as JSON. */
export type FacilitatorPlan = ShopPlan & {
  /** The body of `/settle`, as text: the same in each process. */
  body: string
  kill?: Kill | undefined
}

export type SettleAnswer = {
  success: boolean
  errorReason?: string
  transaction: string
}

/** Sends a body to `/settle` of a facilitator over these orders. */
export function settleBody(
  orders: Orders,
  body: string,
): Promise<SettleAnswer> {
  return sendBody(orders, 'settle', body)
}

/** Sends a body to `/verify`. */
export function verifyBody(
  orders: Orders,
  body: string,
): Promise<{ isValid: boolean }> {
  return sendBody(orders, 'verify', body)
}

async function sendBody<answer>(
  orders: Orders,
  route: string,
  body: string,
): Promise<answer> {
  const { handle } = createFacilitator({
    orders,
    // How fast the machine is decides nothing.
    timeout: 300_000,
    authorize: () => ({ name: 'server', gasPerDay: 1_000_000n }),
  })
  const headers = { 'content-type': 'application/json' }
  const url = `http://facilitator.example/${route}`
  const response = await handle(
    new Request(url, { method: 'POST', headers, body }),
  )
  return response.json()
}
