import type { ChannelsHealth } from '../channels/engine.js'
import type { OrdersHealth } from '../orders/index.js'

/** What is watched: the orders of one shop, and its channels. */
export type WatchHealthParameters = {
  /** The orders of the shop, from `createOrders`. */
  orders: {
    /** As `health` of `Orders`. */
    health(): Promise<OrdersHealth>
  }
  /** The channels of the same shop, from `createChannels`. */
  channels?:
    | {
        /** As `health` of `Channels`. */
        health(): Promise<ChannelsHealth>
      }
    | undefined
}

/** The state of a shop and of its channels, if it has any. */
export type ShopHealth = {
  orders: OrdersHealth
  channels: ChannelsHealth | undefined
}
