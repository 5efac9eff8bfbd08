import type { Address, Client } from 'viem'
import type { OrdersContext } from '../../orders/model/types.js'
import type { Orders } from '../../orders/Orders.js'
import type { FacilitatorCaller, FacilitatorParameters } from './types.js'

/** What a facilitator answers from. */
export type FacilitatorDesk = Pick<FacilitatorParameters, 'authorize'> & {
  basePath: string
  orders: Orders
  context: OrdersContext
  payTo: readonly Address[]
  assets: readonly Address[]
  contractPayers: 'accept' | 'refuse'
  timeout: number
  /** Removes what need not be kept any longer, now and then. */
  sweep: () => void
}

/** A caller with what it may settle, in lower case. */
export type SettledCaller = Pick<FacilitatorCaller, 'name' | 'gasPerDay'> & {
  payTo: readonly Address[]
  assets: readonly Address[]
  deduplicates: boolean
}

/** The client of a token that a caller may settle payments in, to a recipient. */
export function clientFor(
  { context }: Pick<FacilitatorDesk, 'context'>,
  { payTo, assets }: SettledCaller,
  wanted: { chainId: number; token: Address; recipient: Address },
): Client | undefined {
  const { chainId, token, recipient } = wanted
  const isServed = context.destinations.some(
    (one) =>
      one.chainId === chainId &&
      one.token === token &&
      one.recipient === recipient,
  )
  if (!isServed || !payTo.includes(recipient) || !assets.includes(token))
    return undefined
  return context.tokens.find(
    (one) => one.chainId === chainId && one.token === token,
  )?.client
}
