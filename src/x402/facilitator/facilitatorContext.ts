import type { Address, Client } from 'viem'
import type { Instance, OrdersContext } from '../../orders/engine.js'
import type { Orders } from '../../orders/index.js'
import type { FacilitatorCaller, FacilitatorParameters } from './types.js'

/** The checked parameters of a facilitator, and the context of its orders. */
export type FacilitatorContext = Pick<FacilitatorParameters, 'authorize'> & {
  basePath: string
  orders: Orders
  context: OrdersContext
  instance: Instance
  payTo: readonly Address[]
  assets: readonly Address[]
  contractPayers: 'accept' | 'refuse'
  timeout: number
  /**
   * The largest payment to answer once it is pre-confirmed, before a block has
   * it. Absent if every answer waits for the block.
   */
  preconfirmedUpTo: string | undefined
}

/**
 * A caller, with the recipients and tokens it may use. Addresses are in lower
 * case.
 */
export type SettledCaller = Pick<
  FacilitatorCaller,
  'name' | 'gasPerDay' | 'mostAtRisk'
> & {
  payTo: readonly Address[]
  assets: readonly Address[]
  deduplicates: boolean
}

/**
 * Returns the client of a token's chain if the caller may settle payments in
 * this token to this recipient.
 */
export function clientFor(
  { context }: Pick<FacilitatorContext, 'context'>,
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
