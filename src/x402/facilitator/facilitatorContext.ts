import type { Address, Client } from 'viem'
import type { Channels } from '../../channels/engine.js'
import type { Instance, OrdersContext } from '../../orders/engine.js'
import type { Orders } from '../../orders/index.js'
import type {
  FacilitatorCaller,
  FacilitatorParameters,
  Settled,
  Verified,
} from './types.js'

/** One call of a server, whatever its scheme. */
export type AskedCall = {
  /** The body of the request, parsed as JSON. Nothing in it is checked. */
  body: unknown
  caller: SettledCaller
  /** Aborts when the client has disconnected. */
  signal: AbortSignal
}

/** Answers calls of the scheme `batch-settlement`. */
export type ChannelScheme = {
  /** Never rejects: turns errors into answers. */
  verify(asked: AskedCall): Promise<Verified>
  /** Never rejects: turns errors into answers. */
  settle(asked: AskedCall): Promise<Settled>
  /** Returns the account that signs for this caller's channels. */
  getAuthorizer(caller: SettledCaller): Promise<Address>
}

/** Loads the scheme when it is needed: others stay lighter without it. */
export type LoadChannelScheme = (
  facilitator: FacilitatorContext,
  channels: Channels,
) => Promise<ChannelScheme>

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
  /** Absent if the facilitator only takes the scheme `exact`. */
  loadChannels: (() => Promise<ChannelScheme>) | undefined
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
