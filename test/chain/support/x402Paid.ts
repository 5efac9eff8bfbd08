import type { OrderRecord } from 'countersign/store'
import type { X402Handler } from 'countersign/x402'
import type { PrivateKeyAccount } from 'viem'
import { fundedAccount } from './desk.js'
import { rowsOf } from './shop.js'
import { chain, type GateShop, price, signFor } from './x402Desk.js'

/** The address of the resource, unless a request names another. */
export const resource = 'https://shop.example/work'

/** A request to a gate that pays, which can be sent again. */
export type PaidRequest = {
  account: PrivateKeyAccount
  header: string
  send(init?: RequestInit, url?: string): Promise<Response>
  /** The payment's order as it is kept. */
  order(): Promise<OrderRecord>
}

/** A request of a new payer, who has just enough unless `funds` says else. */
export async function payFor(
  shop: GateShop,
  offer: string,
  handler: X402Handler,
  funds = price,
): Promise<PaidRequest> {
  const account = await fundedAccount(chain, funds)
  const sold = shop.gate.protect(offer, handler)
  const header = await signFor(account, await sold(new Request(resource)))
  const order = async () => {
    const payer = account.address.toLowerCase()
    const { orders } = await shop.orders.list({ limit: 100 })
    const own = orders.find((one) => one.payer === payer)
    if (!own) throw new Error('the payer has no order')
    return (await rowsOf(shop, own.id)).order
  }
  return {
    account,
    header,
    send: (init = {}, url = resource) =>
      sold(
        new Request(url, {
          ...init,
          headers: { ...init.headers, 'PAYMENT-SIGNATURE': header },
        }),
      ),
    order,
  }
}
